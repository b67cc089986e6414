import type { Cancel } from "../../base/clock.ts";
import type { Change } from "../../view/change.ts";

/** The fields by which an object is found. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

export type ChangeListener<T> = (change: Change<T>) => void;

/** The local copy of one resource. Objects are replaced, never changed, and an equal object is not replaced. */
export class ObjectStore<T extends Named> {
  readonly #isSame: (left: T, right: T) => boolean;
  readonly #onDefect: (thrown: unknown) => void;
  readonly #listeners = new Set<ChangeListener<T>>();
  #objects = new Map<string, T>();

  constructor(isSame: (left: T, right: T) => boolean, onDefect: (thrown: unknown) => void) {
    this.#isSame = isSame;
    this.#onDefect = onDefect;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  onChange(listener: ChangeListener<T>): Cancel {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  put(object: T): void {
    const key = keyOf(object.namespace, object.name);
    const before = this.#objects.get(key);
    if (before !== undefined && this.#isSame(before, object)) return;
    this.#objects.set(key, object);
    this.#notify(before, object);
  }

  remove(namespace: string, name: string): void {
    const key = keyOf(namespace, name);
    const before = this.#objects.get(key);
    if (before === undefined) return;
    this.#objects.delete(key);
    this.#notify(before, undefined);
  }

  /** The object in the store if it equals the new one, so that equal objects take memory once. */
  known(object: T): T {
    const before = this.get(object.namespace, object.name);
    return before !== undefined && this.#isSame(before, object) ? before : object;
  }

  /** Takes over a complete list at once, so that objects that stay are never missing. */
  replace(listed: ReadonlyMap<string, T>): void {
    const before = this.#objects;
    this.#objects = new Map(listed);
    for (const [key, object] of listed) if (before.get(key) !== object) this.#notify(before.get(key), object);
    for (const [key, object] of before) if (!listed.has(key)) this.#notify(object, undefined);
  }

  /** The keys of objects that differ between a list and this copy. */
  differences(listed: ReadonlyMap<string, T>): Set<string> {
    const keys = new Set<string>();
    for (const [key, object] of listed) if (this.#objects.get(key) !== object) keys.add(key);
    for (const key of this.#objects.keys()) if (!listed.has(key)) keys.add(key);
    return keys;
  }

  /** A listener that throws is a defect of Levee, and must not end the watch that feeds the others. */
  #notify(before: T | undefined, now: T | undefined): void {
    for (const listener of this.#listeners) {
      try {
        listener({ before, now });
      } catch (thrown) {
        this.#onDefect(thrown);
      }
    }
  }
}

export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
