import { renderedFiles } from "../../deploy/rendered.ts";
import { fileRule, type Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";

/** Rendered files are up to date, no other file is among them for Argo CD, and no image is named by a tag. */
export const deployRule = fileRule("deploy", (tree) => {
  const rendered = renderedFiles((path) => tree.read(path));
  return [...staleProblems(tree, rendered), ...strayProblems(tree, rendered), ...tagProblems(tree)];
});

type Rendered = ReturnType<typeof renderedFiles>;

function staleProblems(tree: Tree, rendered: Rendered): readonly Problem[] {
  return [...rendered]
    .filter(([path, text]) => tree.read(path) !== text)
    .map(([file]) => ({ file, line: 0, message: "not as its sources say", remedy: "npm run deploy:render" }));
}

const appsFolder = "deploy/gitops/apps/";
/** What is not ours to render: the folder for the files of others, and the namespace of the example. */
const handWritten = /^(?:cdi\/|kubevirt-vms\/namespace\.yaml$)/u;

/** Argo CD applies every file in these folders. */
function strayProblems(tree: Tree, rendered: Rendered): readonly Problem[] {
  return tree.files
    .filter((path) => path.startsWith(appsFolder) && !rendered.has(path))
    .filter((path) => !handWritten.test(path.slice(appsFolder.length)))
    .map((file) => ({
      file,
      line: 0,
      message: "no source says what is in it",
      remedy: "Make it in scripts/deploy/gitops.ts, or remove it",
    }));
}

const imageLine = /^\s*(?:- )?image:\s+["']?([^\s"']+)/u;
/** A name with a digest, or a name alone that kustomize or Helm completes with one. */
const pinned = /^(?:levee|[^\s]+@sha256:[0-9a-f]{64}|\{\{.*)$/u;

function tagProblems(tree: Tree): readonly Problem[] {
  const files = tree.files.filter((path) => /^(?:deploy|examples)\/.*\.ya?ml$/u.test(path));
  return files.flatMap((file) =>
    (tree.read(file) ?? "").split("\n").flatMap((text, index): readonly Problem[] => {
      const image = imageLine.exec(text)?.[1];
      if (image === undefined || pinned.test(image)) return [];
      const message = `the image ${image} is not named by its digest`;
      return [{ file, line: index + 1, message, remedy: "Write name@sha256:…; a tag can move" }];
    }),
  );
}
