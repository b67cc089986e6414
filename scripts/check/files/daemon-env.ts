import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { fileRule, type Problem } from "../rule.ts";
import { lineAt } from "../code/source-text.ts";
import type { Tree } from "../tree.ts";

/** The daemon sees to its settings itself; the guard, which runs from these as well, has them from the image. */
const images = ["deploy/image/Containerfile", "deploy/image/guard/Containerfile"];
/** Everything whose name begins so is for the engine. */
const listed = /^\s*- name:\s*(BUN_\w+)\s*\n\s*value:\s*"?([^"\n]*)"?\s*$/gmu;
const assigned = /\b(BUN_\w+)=(\S+)/gu;
const remedy =
  "src/config/daemon-env.ts says how the engine runs; say the same in the images, and nothing else elsewhere";

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

/** The engine of a shipped program runs as the one that is tested and measured. */
export const daemonEnvRule = fileRule("daemon-env", (tree) => shipped(tree).flatMap((file) => problemsOf(tree, file)));

/** All that set anything for the engine, and those that must. */
function shipped(tree: Tree): readonly string[] {
  const setting = tree.files.filter(
    (path) => /^deploy\/.*(?:\.ya?ml|\/Containerfile)$/u.test(path) && settingsOf(tree.read(path) ?? "").length > 0,
  );
  return [...new Set([...images, ...setting])];
}

function problemsOf(tree: Tree, file: string): readonly Problem[] {
  const settings = settingsOf(tree.read(file) ?? "");
  const wanted = Object.entries(daemonEnv);
  const missing = wanted
    .filter(([name]) => !settings.some((setting) => setting.name === name))
    .map(([name, value]) => ({ file, line: 0, message: `${name} is not set to ${value}`, remedy }));
  const wrong = settings
    .filter(({ name, value }) => !wanted.some((pair) => pair[0] === name && pair[1] === value))
    .map(({ name, value, line }) => ({ file, line, message: `${name} is set to ${value}`, remedy }));
  return [...missing, ...wrong];
}

function settingsOf(text: string): readonly Setting[] {
  return [...text.matchAll(listed), ...text.matchAll(assigned)].map((match) => ({
    name: match[1] ?? "",
    value: match[2] ?? "",
    line: lineAt(text, match.index + match[0].indexOf("BUN_")),
  }));
}
