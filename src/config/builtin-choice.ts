import { isBuiltinPlugin, type BuiltinChoice } from "../cni/builtin/builtin-plugins.ts";
import { choiceKnobs } from "./word-knobs.ts";
import { shorten } from "./problem.ts";
import type { SettingsReader } from "./settings-reader.ts";

const { names, default: byDefault } = choiceKnobs.builtinPlugins;
const remedy = `set "auto", "off", or a list of ${names.join(", ")}`;

/** Where built-in plugins stand in. A mistake in a list names its place. */
export function readBuiltinChoice(from: SettingsReader): BuiltinChoice {
  if (!from.isList("builtinPlugins")) return from.word("builtinPlugins", isWord, remedy) ?? byDefault;
  const texts = from.strings("builtinPlugins") ?? [];
  texts.forEach((text, place) => {
    if (!isBuiltinPlugin(text))
      from.problems.push({ key: `builtinPlugins[${place}]`, seen: shorten(JSON.stringify(text)), remedy });
  });
  return Object.freeze([...new Set(texts.filter(isBuiltinPlugin))]);
}

function isWord(text: string): text is "auto" | "off" {
  return text === "auto" || text === "off";
}
