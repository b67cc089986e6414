import { LeveeError } from "../../base/errors.ts";
import { firstChars } from "../../base/short-text.ts";
import { parseSelection, type SelectionElement } from "../../attachment/selection.ts";
import type { View } from "../../view/view.ts";
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

/** What an annotation asks for, and what it was found to be. */
export interface Wishes {
  readonly elements: readonly SelectionElement[];
  readonly definitions: ReadonlyMap<string, NetworkDefinition>;
}

/** What the pod asks for, found in the view before it is admitted. */
export interface PodRequest extends Wishes {
  readonly pod: PodFacts | undefined;
}

const noWishes: Wishes = { elements: [], definitions: new Map() };

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

/** Different wishes that are kept; a node has pods of so many workloads at most, and beyond that it only costs memory. */
const wishesMax = 64;
const keyCharsMax = 4_096;

/** Pods of one workload ask for the same: what thousands of them keep while they wait is kept once. */
export class SameWishes {
  readonly #known = new Map<string, Wishes>();

  /** The earlier ones when they are the same to the last object, else these. */
  share(key: string, wishes: Wishes): Wishes {
    const known = this.#known.get(key);
    if (known !== undefined && isSame(known.definitions, wishes.definitions)) return known;
    if (key.length > keyCharsMax) return wishes;
    if (known === undefined && this.#known.size >= wishesMax) this.#known.clear();
    this.#known.set(key, wishes);
    return wishes;
  }

  /** The annotation's elements, when it was read before. */
  elements(key: string): Wishes["elements"] | undefined {
    return this.#known.get(key)?.elements;
  }
}

function isSame(left: Wishes["definitions"], right: Wishes["definitions"]): boolean {
  return left.size === right.size && [...left].every(([name, definition]) => right.get(name) === definition);
}

const sameWishes = new SameWishes();
