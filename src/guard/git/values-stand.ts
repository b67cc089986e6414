import { parseAllDocuments } from "yaml";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { Decision } from "../decision/decision.ts";
import type { FieldEdit, LockToGitStep } from "../decision/step.ts";
import { memoryBytes } from "../facts/memory-quantity.ts";
import { objectsOf } from "../json-values.ts";

/** The part of a pointer that leads to the container. Its index may have changed since, so it is found by its name. */
const containerPointer = /^\/spec\/template\/spec\/containers\/\d+\//u;

/**
 * Whether a file already has every value that the step would write, whatever else a person has changed in it: comments,
 * order, other fields. Which container is meant is in the Decision's step that changes the cluster.
 */
export function valuesStand(bytes: Uint8Array, { lockToGit }: LockToGitStep, { spec }: Decision): boolean {
  const documents = documentsOf(bytes);
  return spec.steps.some((step) => {
    if (step.action !== "SetMemoryLimit") return false;
    const container = containerIn(documents, step.setMemoryLimit);
    return container !== undefined && lockToGit.edits.every((edit) => hasValue(container, edit));
  });
}

/** None for a file that is not plain YAML. */
function documentsOf(bytes: Uint8Array): readonly unknown[] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const documents = [...parseAllDocuments(text, { uniqueKeys: true })];
    return documents.every(({ errors }) => errors.length === 0) ? documents.map((one) => one.toJS() as unknown) : [];
  } catch {
    // Not UTF-8, or aliases that grow without end: nobody can say what such a file holds.
    return [];
  }
}

interface Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

/** Undefined unless exactly one document is about the object. */
function containerIn(
  documents: readonly unknown[],
  { kind, namespace, name, container }: Place,
): JsonObject | undefined {
  const found = documents.map(objectOf).filter((document) => {
    const metadata = objectOf(document["metadata"]);
    // A file may leave out the namespace.
    const isHome = [undefined, namespace].includes(metadata["namespace"] as string | undefined);
    return document["kind"] === kind && metadata["name"] === name && isHome;
  });
  if (found.length !== 1) return undefined;
  const template = objectOf(objectOf(objectOf(found[0]?.["spec"])["template"])["spec"]);
  return objectsOf(template["containers"]).find((one) => textOf(one["name"]) === container);
}

/** Quantities are compared by what they mean: `1024Mi` is `1Gi`. */
function hasValue(container: JsonObject, { pointer, to }: FieldEdit): boolean {
  if (!containerPointer.test(pointer)) return false;
  let value: unknown = container;
  for (const key of pointer.replace(containerPointer, "").split("/")) value = objectOf(value)[key];
  const text = typeof value === "number" ? String(value) : textOf(value);
  if (text === to) return true;
  const [there, wanted] = [memoryBytes(text), memoryBytes(to)];
  return there !== undefined && there === wanted;
}
