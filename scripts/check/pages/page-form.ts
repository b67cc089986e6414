import type { Configuration } from "markdownlint";
import { lint } from "markdownlint/sync";
import { fileRule } from "../rule.ts";

const configuration: Configuration = {
  default: true,
  // A paragraph or a table row is one line of any length.
  MD013: false,
  // A code's title is in bold below its code, because hints link to the code.
  MD036: false,
  // The first header of a table of results is empty.
  MD060: false,
  // GitHub needs HTML for a different picture in dark mode.
  MD033: { allowed_elements: ["picture", "source", "img"] },
};

/** Results of the bench are parts of a page and have no heading. */
const page = /^(?!bench\/results\/).*\.md$/u;

/** Every page follows markdownlint: headings, lists, tables, fences, links to headings of the page. */
export const pageForm = fileRule("page-form", (tree) => {
  const paths = tree.files.filter((path) => page.test(path));
  const strings = Object.fromEntries(paths.map((path) => [path, tree.read(path) ?? ""]));
  return Object.entries(lint({ strings, config: configuration })).flatMap(([file, found]) =>
    found.map(({ lineNumber, ruleNames, ruleDescription, errorDetail }) => ({
      file,
      line: lineNumber,
      message: `${ruleNames.join("/")} ${ruleDescription}${errorDetail === null ? "" : `: ${errorDetail}`}`,
      remedy: "Follow markdownlint's advice",
    })),
  );
});
