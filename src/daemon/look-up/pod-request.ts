import { LeveeError } from "../../base/errors.ts";
import { firstChars } from "../../base/short-text.ts";
import { parseSelection, type SelectionElement } from "../../attachment/selection.ts";
import type { View } from "../../view/view.ts";
import { networksAnnotation } from "../../base/annotations.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/** No object has a longer name. An annotation may name 256 KiB of text, which must not fill an error. */
const nameCharsMax = 253;
/** Name at most three files in an error. */
const filesNamedMax = 3;

/** Where definitions are found. */
export type NetworkLookup = Pick<View, "findNetwork" | "problems"> & {
  /** Looks in the local copy only; absent while that copy is incomplete. */
  readonly findKnown?: View["findNetwork"];
  /** Multus' words for a network that the API server does not have either. */
  readonly absentText?: (name: string) => string;
};

/** The networks that an annotation names, and their definitions. */
export interface Wishes {
  readonly elements: readonly SelectionElement[];
  readonly definitions: ReadonlyMap<string, NetworkDefinition>;
}

/** A pod and the networks it asks for. */
export interface PodRequest extends Wishes {
  readonly pod: PodFacts | undefined;
}

const noWishes: Wishes = { elements: [], definitions: new Map() };

/** Reads the pod's annotation and finds each network it names. It needs no slot and no configuration. */
export async function requestOf(pod: PodFacts | undefined, view: NetworkLookup): Promise<PodRequest> {
  const annotation = pod?.annotations[networksAnnotation] ?? "";
  if (pod === undefined || annotation === "") return withPod(pod, noWishes);
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

/** A pod's annotation names a definition, never a file of the node that happens to have the same name. */
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

/** How many different wishes are kept. A node seldom has pods of more workloads, and further entries only cost memory. */
const wishesMax = 64;
const keyCharsMax = 4_096;

/** Pods of one workload ask for the same networks. Thousands of them may wait, so they share one object. */
export class SameWishes {
  readonly #known = new Map<string, Wishes>();

  /** The earlier wishes when their definitions are the very same objects, else these. */
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
