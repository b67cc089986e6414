import type { Reflector } from "./reflector.ts";

/** An object of a resource that only tests know. */
export interface Thing {
  readonly namespace: string;
  readonly name: string;
  readonly value: string;
}

/** An object as the server sends it, with a value of its own. */
export function thing(name: string, value: string, resourceVersion = "0"): unknown {
  return { metadata: { namespace: "ns", name, resourceVersion, managedFields: [1, 2, 3] }, value };
}

export function projectThing(object: unknown): Thing {
  const { metadata, value } = object as { metadata: { namespace: string; name: string }; value: string };
  return { namespace: metadata.namespace, name: metadata.name, value };
}

export function sameThing(left: Thing, right: Thing): boolean {
  return left.value === right.value;
}

export function valuesOf(reflector: Reflector<Thing>): string {
  return [...reflector.store.values()].map(({ name, value }) => `${name}=${value}`).join(" ");
}
