import type { JsonText, Namespace } from "../base/brand.ts";
import { trimSpace } from "../base/trim-space.ts";
import { appendElements, arrayElements, asJsonText, jsonObject, jsonString } from "../cni/json-text.ts";
import { parseSelection } from "./selection.ts";

/** A network as a person names it. */
export interface NamedNetwork {
  readonly namespace: string;
  readonly name: string;
  readonly ifname: string | undefined;
}

/** The annotation with one more network at its end. The other entries keep their bytes, and the grammar stays. */
export function withNetwork(annotation: string, podNamespace: Namespace, network: NamedNetwork): string {
  const { namespace, name, ifname } = network;
  const entries = parseSelection(annotation, podNamespace);
  if (isJson(annotation)) {
    const members: [string, JsonText][] = [["name", jsonString(name)]];
    if (namespace !== podNamespace) members.push(["namespace", jsonString(namespace)]);
    if (ifname !== undefined) members.push(["interface", jsonString(ifname)]);
    return appendElements(arrayOf(annotation), [jsonObject(members)]);
  }
  const path = namespace === podNamespace ? name : `${namespace}/${name}`;
  const item = ifname === undefined ? path : `${path}@${ifname}`;
  return entries.length === 0 ? item : `${annotation},${item}`;
}

/** The annotation without the entries of a network, and how many they were. Without any entry it is `[]`. */
export function withoutNetwork(
  annotation: string,
  podNamespace: Namespace,
  { namespace, name, ifname }: NamedNetwork,
): { readonly text: string; readonly removed: number } {
  const entries = parseSelection(annotation, podNamespace);
  const isMeant = entries.map(
    (entry) =>
      entry.namespace === namespace && entry.name === name && (ifname === undefined || entry.ifname === ifname),
  );
  const removed = isMeant.filter(Boolean).length;
  const kept = <T>(items: readonly T[]): T[] => items.filter((_item, index) => isMeant[index] !== true);
  if (isJson(annotation)) return { text: `[${kept(arrayElements(arrayOf(annotation))).join(",")}]`, removed };
  const items = entries.length === 0 ? [] : kept(annotation.split(","));
  // An empty annotation would say nothing, and the networks would stay for a while.
  return { text: items.length === 0 ? "[]" : items.join(","), removed };
}

function isJson(annotation: string): boolean {
  return /[[{"]/u.test(annotation);
}

function arrayOf(annotation: string): JsonText {
  return asJsonText(trimSpace(annotation), "the annotation");
}
