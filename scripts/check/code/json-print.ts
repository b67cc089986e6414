import { fileRule, type Problem } from "../rule.ts";
import { blankCommentsAndStrings, lineAt } from "./source-text.ts";
import { productFiles } from "../tree.ts";

/**
 * A plugin's configuration is never parsed and printed again, because that changes integers above 2^53, duplicate keys
 * and `1500.0`. So the folders that handle such text may not print JSON, except to quote a value in an error message and
 * in these files, each with its reason.
 */
const mayPrintJson: Readonly<Record<string, string>> = {
  "src/cni/json-text.ts": "Prints strings and values of our own making, to be spliced into text",
  "src/cni/go-json.ts": "Prints results, errors and network-status, which are read into a model first",
};

const guarded = /^src\/(?:attachment|cni|hands)\//;
const reprint = /\bJSON\.stringify\(\s*JSON\.parse\b/g;
const print = /\bJSON\.stringify\b/g;

export const jsonPrint = fileRule("json-print", (tree) =>
  productFiles(tree).flatMap((path) => {
    const code = blankCommentsAndStrings(tree.read(path) ?? "");
    const pattern = guarded.test(path) && mayPrintJson[path] === undefined ? print : reprint;
    return [...code.matchAll(pattern)]
      .filter((match) => !isInErrorMessage(code, match.index))
      .map((match): Problem => ({
        file: path,
        line: lineAt(code, match.index),
        message: "JSON.stringify where delegates' configurations are handled",
        remedy:
          "Keep the text and splice members in as text; if this prints only our own values, add the file and its reason to mayPrintJson",
      }));
  }),
);

/** Whether the statement before the position creates one of our errors. */
function isInErrorMessage(code: string, position: number): boolean {
  const statement = code.slice(code.lastIndexOf(";", position) + 1, position);
  return /\bnew LeveeError\(/.test(statement);
}
