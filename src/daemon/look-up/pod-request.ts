import { LeveeError } from "../../base/errors.ts";
import { firstChars } from "../../base/short-text.ts";
import { parseSelection, type SelectionElement } from "../../attachment/selection.ts";
import type { View } from "../../view/view.ts";
import { SameWishes, type Wishes } from "./same-wishes.ts";
import { networksAnnotation } from "../../base/annotations.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** No object has a longer name; an annotation may ask for one of a quarter of a megabyte, which must not fill an error. */
const nameCharsMax = 253;
/** Name at most three files in an error. */
const filesNamedMax = 3;

/** Where definitions are found. */
export type NetworkLookup = Pick<View, "findNetwork" | "problems"> & {
  /** What is known without asking anybody, when all there is is known. */
  readonly findKnown?: View["findNetwork"];
  /** Who was asked besides, and said no. */
  readonly absentText?: (name: string) => string;
};

/** What the pod asks for, found in the view before it is admitted. */
export interface PodRequest extends Wishes {
  readonly pod: PodFacts | undefined;
}

const noWishes: Wishes = { elements: [], definitions: new Map() };
const sameWishes = new SameWishes();

/** Reads the pod's annotation and finds each network it names; needs no slot and no configuration. */
export async function requestOf(pod: PodFacts | undefined, view: NetworkLookup): Promise<PodRequest> {
  const annotation = pod?.annotations[networksAnnotation] ?? "";
  if (pod === undefined || annotation.trim() === "") return withPod(pod, noWishes);
  const key = `${pod.namespace}\n${annotation}`;
  const elements = sameWishes.elements(key) ?? parseSelection(annotation, pod.namespace);
  const definitions = new Map<string, NetworkDefinition>();
  for (const element of elements) {
    const key = `${element.namespace}/${element.name}`;
    definitions.set(key, definitions.get(key) ?? (await definitionOf(element, view)));
  }
  return withPod(pod, sameWishes.share(key, { elements, definitions }));
}

function withPod(pod: PodFacts | undefined, { elements, definitions }: Wishes): PodRequest {
  return { pod, elements, definitions };
}

/** What a pod names is a definition, never a file of the node that happens to have the name. */
export async function definitionOf(
  { namespace, name }: SelectionElement,
  view: NetworkLookup,
): Promise<NetworkDefinition> {
  const definition = await view.findNetwork(namespace, name);
  if (definition !== undefined) return definition;
  const shown = name.length > nameCharsMax ? `${firstChars(name, nameCharsMax)}…` : name;
  throw new LeveeError(
    "network-unknown",
    `cannot find a network-attachment-definition (${shown}) in namespace (${namespace})${view.absentText?.(shown) ?? ""}${unreadText(view)}`,
  );
}

/** A network that seems to be missing may be in a file that cannot be read. */
export function unreadText(view: NetworkLookup): string {
  const problems = view.problems?.() ?? [];
  if (problems.length === 0) return "";
  const files = problems.length === 1 ? "1 file" : `${problems.length} files`;
  const more = problems.length > filesNamedMax ? ", …" : "";
  return `; ${files} in the directory cannot be read: ${problems.slice(0, filesNamedMax).join("; ")}${more}`;
}
