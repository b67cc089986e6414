import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { PolicyObject } from "./policy-standing.ts";

const folder = join(import.meta.dir, "../../../deploy/policies");

/** The policies of deploy/policies as the API server gives them, created at this time and never changed. */
export function installedPolicies(creationTimestamp: string): readonly PolicyObject[] {
  return readdirSync(folder)
    .filter((name) => name !== "kustomization.yaml")
    .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), "utf8")))
    .map((document) => document.toJS() as PolicyObject) // our own manifests
    .map((object) => ({
      ...object,
      metadata: { ...object.metadata, creationTimestamp, generation: 1, managedFields: [{ time: creationTimestamp }] },
    }));
}

/** Changes the objects with this name and, if given, this kind. */
export function otherwise(
  policies: readonly PolicyObject[],
  which: { readonly name: string; readonly kind?: string },
  change: (object: PolicyObject) => PolicyObject | undefined,
): readonly PolicyObject[] {
  return policies.flatMap((object) => {
    const isMeant = object.metadata.name === which.name && (which.kind ?? object.kind) === object.kind;
    return (isMeant ? change(object) : object) ?? [];
  });
}
