import { createHash } from "node:crypto";
import { isObject, objectOf } from "../../kube/client/json-fields.ts";
import { canonicalJson } from "../decision/plan-hash.ts";
import { objectsOf } from "../json-values.ts";

/** Does not depend on the order of keys. Throws for a value that is not JSON or has fractions. */
export function specHash(spec: unknown): string {
  return createHash("sha256").update(canonicalJson(spec), "utf8").digest("hex");
}

/**
 * The hash over everything a CustomResourceDefinition enforces: the schema with its rules and the subresources of each
 * version. Throws for a definition that cannot be one of ours.
 */
export function definitionHash(definition: unknown): string {
  const versions = objectsOf(objectOf(objectOf(definition)["spec"])["versions"]).map((version) => ({
    name: version["name"],
    schema: version["schema"],
    hasStatus: isObject(objectOf(version["subresources"])["status"]),
  }));
  return specHash(versions);
}
