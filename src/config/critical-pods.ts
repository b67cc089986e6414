import { parsePodSelector, type PodSelector } from "./pod-selector.ts";
import { listKnobs } from "./word-knobs.ts";
import { shorten } from "./problem.ts";
import type { SettingsReader } from "./settings-reader.ts";

const remedy = "set the name of a namespace, or NAMESPACE/KEY=VALUE[,KEY=VALUE…] for its pods with these labels";

/** The pods that a site depends on. A mistake names its place in the list. */
export function readCriticalPods(from: SettingsReader): readonly PodSelector[] {
  const { itemsMax } = listKnobs.criticalPods;
  const texts = from.strings("criticalPods") ?? [];
  if (texts.length > itemsMax) from.wrong("criticalPods", `set at most ${itemsMax} entries`);
  const selectors = texts.map((text, place) => {
    const selector = parsePodSelector(text);
    if (selector === undefined)
      from.problems.push({ key: `criticalPods[${place}]`, seen: shorten(JSON.stringify(text)), remedy });
    return selector;
  });
  return Object.freeze(selectors.flatMap((selector) => selector ?? []));
}
