import type { SelectionElement } from "../../attachment/selection.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

/** What an annotation asks for, and what it was found to be. */
export interface Wishes {
  readonly elements: readonly SelectionElement[];
  readonly definitions: ReadonlyMap<string, NetworkDefinition>;
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
