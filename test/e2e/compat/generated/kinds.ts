import { type Random } from "../../../hostile/random.ts";
import { confs } from "./confs.ts";
import { defaultNetwork } from "./default-network.ts";
import { definitions } from "./definitions.ts";
import { Draft } from "./draft.ts";
import { failures } from "./failures.ts";
import type { GeneratedCase } from "./generated-case.ts";
import { jsonForm } from "./json-form.ts";
import { realPlugins } from "./real-plugins.ts";
import { results } from "./results.ts";
import { shortForm } from "./short-form.ts";

/** What is made odd, with how many of a hundred cases do it. */
const kinds: readonly (readonly [string, number, (draft: Draft) => void])[] = [
  ["annotation, list of names", 12, shortForm],
  ["annotation, JSON", 26, jsonForm],
  ["default network and default route", 8, defaultNetwork],
  ["network definitions", 16, definitions],
  ["confs of the runtime", 14, confs],
  ["results of plugins", 10, results],
  ["plugins that fail", 6, failures],
  ["real plugins", 8, realPlugins],
];

/** The case of a seed. */
export function generatedCase(random: Random): GeneratedCase {
  let rest = random.next() * 100;
  for (const [name, share, make] of kinds) {
    rest -= share;
    if (rest >= 0) continue;
    const draft = new Draft(random);
    make(draft);
    return draft.finish(name);
  }
  throw new RangeError("Cannot choose a kind: the shares must sum up to 100");
}
