import { isDeepStrictEqual } from "node:util";
import { isNode, type Document } from "yaml";

/** One operation of RFC 6902, with the fields that our overlays use. */
export interface Operation {
  readonly op: "test" | "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** Applies the operations in order, in place. Throws where kustomize would. */
export function applyOperations(object: Document, operations: readonly Operation[]): void {
  for (const operation of operations) apply(object, operation);
}

function apply(object: Document, { op, path, value }: Operation): void {
  const at = path.slice(1).split("/").map(segment);
  if (op !== "add" && !object.hasIn(at)) throw new Error(`Cannot ${op} ${path}: there is no such field`);
  switch (op) {
    case "test":
      if (!isDeepStrictEqual(plain(object, at), value))
        throw new Error(`Cannot patch: ${path} is ${JSON.stringify(plain(object, at))}, not ${JSON.stringify(value)}`);
      return;
    case "remove":
      object.deleteIn(at);
      return;
    case "add":
      if (typeof at.at(-1) === "number") throw new Error(`Cannot add at ${path}: adding to a list is not supported`);
      object.setIn(at, object.createNode(value));
      return;
    case "replace":
      object.setIn(at, object.createNode(value));
      return;
    default:
      throw new Error(`Cannot patch ${path}: the operation ${String(op)} is not supported`);
  }
}

function segment(text: string): string | number {
  return /^\d+$/u.test(text) ? Number(text) : text.replaceAll("~1", "/").replaceAll("~0", "~");
}

function plain(object: Document, at: readonly (string | number)[]): unknown {
  const found: unknown = object.getIn(at, true);
  return isNode(found) ? found.toJS(object) : found;
}
