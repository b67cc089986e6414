import { objectsOf } from "../../guard/json-values.ts";
import type { DaemonSetFacts } from "../../guard/facts/world.ts";
import { projectDaemonSet } from "../../guard/observe/project-workloads.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { Named } from "../../kube/watch/object-store.ts";

/** A DaemonSet that pod starts depend on, and what it is. */
export interface CniDaemonSet extends DaemonSetFacts {
  readonly part: keyof typeof partTexts;
}

const partTexts = {
  daemon: "Levee's daemon",
  hand: "Levee's hand",
  multus: "Multus",
  other: "named by the guard's --cni-daemon",
};

/**
 * Levee's own by their labels, which every way of installing sets: the drop-in uses Multus' names, and a chart can be in
 * any namespace. Multus by its image, and whatever the guard's options name (`namespace/daemonset`).
 */
export function cniDaemonSet(item: unknown, told: readonly string[]): CniDaemonSet | undefined {
  const found = projectDaemonSet(item);
  if (found === undefined) return undefined;
  const part = ownPart(objectOf(objectOf(item)["metadata"])) ?? (isMultus(item) ? "multus" : undefined);
  if (part !== undefined) return { ...found, part };
  return told.includes(`${found.namespace}/${found.name}`) ? { ...found, part: toldPart(found.name) } : undefined;
}

/** The same for a reader who hears later what the guard's options name. */
export function daemonSetSeen(
  item: unknown,
): (Named & { readonly isOurs: boolean; readonly isCni: boolean }) | undefined {
  const found = projectDaemonSet(item);
  if (found === undefined) return undefined;
  const known = cniDaemonSet(item, []);
  const { namespace, name } = found;
  return { namespace, name, isCni: known !== undefined, isOurs: known !== undefined && isLeveeDaemon(known) };
}

export function partText({ part }: CniDaemonSet): string {
  return partTexts[part];
}

/** True for the DaemonSet whose pods answer on the metrics port. */
export function isLeveeDaemon({ part }: CniDaemonSet): boolean {
  return part === "daemon";
}

function ownPart({ labels }: JsonObject): "daemon" | "hand" | undefined {
  const { "app.kubernetes.io/name": name, "app.kubernetes.io/component": component } = objectOf(labels);
  return name === "levee" && (component === "daemon" || component === "hand") ? component : undefined;
}

/** Distributions rename the DaemonSet and mirror the image, whose name stays. */
function isMultus(item: unknown): boolean {
  const template = objectOf(objectOf(objectOf(item)["spec"])["template"]);
  const images = objectsOf(objectOf(template["spec"])["containers"]).map(({ image }) => textOf(image));
  return images.some((image) => /multus(?!-dynamic)[^/]*$/u.test(image));
}

function toldPart(name: string): "multus" | "other" {
  return name.includes("multus") ? "multus" : "other";
}
