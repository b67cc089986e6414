import { isObject, objectOf } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../facts/json-values.ts";
import { specHash } from "./spec-hash.ts";

/**
 * Of what a CustomResourceDefinition holds its objects to: the schema with its rules and the subresources of each version.
 * Throws for what no definition of ours can be.
 */
export function definitionHash(definition: unknown): string {
  const versions = objectsOf(objectOf(objectOf(definition)["spec"])["versions"]).map((version) => ({
    name: version["name"],
    schema: version["schema"],
    hasStatus: isObject(objectOf(version["subresources"])["status"]),
  }));
  return specHash(versions);
}
