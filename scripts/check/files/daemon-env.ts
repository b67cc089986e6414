import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { fileRule, type Problem } from "../rule.ts";
import { lineAt } from "../code/source-text.ts";
import type { Tree } from "../tree.ts";

/** The daemon sets its variables itself. The guard runs from these images too and takes them from the image. */
const images = ["deploy/image/Containerfile", "deploy/image/guard/Containerfile"];
/** Variables for the engine have this prefix. */
const listed = /^\s*- name:\s*(BUN_\w+)\s*\n\s*value:\s*"?([^"\n]*)"?\s*$/gmu;
const assigned = /\b(BUN_\w+)=(\S+)/gu;
const remedy = "Set the variables of src/config/daemon-env.ts, with the same values, in the images and nowhere else";

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

/** Shipped programs run the engine with the settings that are tested and measured. */
export const daemonEnvRule = fileRule("daemon-env", (tree) => shipped(tree).flatMap((file) => problemsOf(tree, file)));

/** The images, which must set the variables, and all other files that set one. */
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
