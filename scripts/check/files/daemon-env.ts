import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { fileRule, type Problem } from "../rule.ts";
import { lineAt } from "../code/source-text.ts";
import type { Tree } from "../tree.ts";

/** Variables for the engine have this prefix. */
const listed = /^\s*- name:\s*(BUN_\w+)\s*\n\s*value:\s*"?([^"\n]*)"?\s*$/gmu;
const assigned = /\b(BUN_\w+)=(\S+)/gu;
const remedy = "Remove them: the images have the variables of src/config/daemon-env.ts (scripts/image/recipes.ts)";

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

/**
 * Shipped programs run the engine with the settings that are tested and measured. The images take them from the code; a
 * manifest that sets one must set them all, in the same way.
 */
export const daemonEnvRule = fileRule("daemon-env", (tree) => setting(tree).flatMap((file) => problemsOf(tree, file)));

function setting(tree: Tree): readonly string[] {
  return tree.files.filter((path) => /^deploy\/.*\.ya?ml$/u.test(path) && settingsOf(tree.read(path) ?? "").length > 0);
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
