import { fileRule, type Problem } from "../rule.ts";
import type { Tree } from "../tree.ts";

/** Hosts that text in the repository may link to. Any other host is a mirror, a private host or a mistake. */
const knownHosts: readonly RegExp[] = [
  /^github\.com$/,
  /^(?:www\.)?apache\.org$/,
  /^(?:www\.)?cni\.dev$/,
  /^(?:www\.)?kubernetes\.io$/,
  /^kubernetes\.default\.svc$/,
  /^www\.w3\.org$/,
  /^json-schema\.org$/,
  /^no-color\.org$/,
  // Names of formats, not addresses.
  /^(?:in-toto\.io|slsa\.dev)$/,
  /^(?:www\.)?(?:example\.(?:com|org|net)|.+\.(?:test|invalid|example))$/,
  /^(?:localhost|127\.0\.0\.1|\[::1\])$/,
  // Multus' shim uses this name for its daemon's socket, so it is in the errors that we measured.
  /^dummy$/,
];

const url = /\bhttps?:\/\/([^\s/,"'`)>\]\\]+)/g;
/** Folders of one machine. Written in parts so that this file passes its own rule. */
const machineFolders = ["work", "root", "home/[a-z]+", "Users/[a-z]+", "tmp/bash\\w*"].join("|");
const machinePath = new RegExp(`(?<![\\w.~*}/\\])-])/(?:${machineFolders})(?![\\w-])(?!/?\\*)`, "g");
const binary = /\.(?:png|jpg|ico|gz|tar|bin)$/;

export const cleanText = fileRule("clean-text", (tree) => [
  ...tree.files.filter((path) => !binary.test(path)).flatMap((path) => textProblems(tree, path)),
  ...lockProblems(tree),
]);

function textProblems(tree: Tree, path: string): readonly Problem[] {
  const lines = (tree.read(path) ?? "").split("\n");
  return lines.flatMap((text, index) => [
    ...hostProblems(path, index + 1, text),
    ...pathProblems(path, index + 1, text),
  ]);
}

function hostProblems(file: string, line: number, text: string): readonly Problem[] {
  // npm's lockfile contains funding links of packages. It has its own rule below.
  if (file === "package-lock.json") return [];
  return [...text.matchAll(url)]
    .map((match) => (match[1] ?? "").replace(/:\d+$/, ""))
    .filter((host) => !host.includes("$") && !knownHosts.some((known) => known.test(host)))
    .map((host) => ({
      file,
      line,
      message: `a link to the unknown host ${host}`,
      remedy: "Remove it, or add the host to knownHosts if everybody may go there",
    }));
}

function pathProblems(file: string, line: number, text: string): readonly Problem[] {
  return [...text.matchAll(machinePath)].map((match) => ({
    file,
    line,
    message: `a path of one machine: ${match[0]}`,
    remedy: "Use a relative path or a temporary folder",
  }));
}

function lockProblems(tree: Tree): readonly Problem[] {
  const lines = (tree.read("package-lock.json") ?? "").split("\n");
  return lines.flatMap((text, index) =>
    /"resolved":\s*"https?:/.test(text)
      ? [
          {
            file: "package-lock.json",
            line: index + 1,
            message: "the lockfile names the host a package came from",
            remedy: "npm install --omit-lockfile-registry-resolved",
          },
        ]
      : [],
  );
}
