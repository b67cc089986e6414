import { objectOf, textOf, type JsonObject } from "../client/json-fields.ts";

/** The accounts of the daemon and of the hand, in every way of installing. */
const accounts: ReadonlySet<unknown> = new Set(["levee", "levee-hand"]);

/**
 * Whether a pod is one of Levee's that bear the label of the reboot gate, with or without it. The account of a pod never
 * changes, so a pod from which somebody deletes the label stays known.
 */
export function bearsGate(metadata: JsonObject, spec: JsonObject): boolean {
  if (!accounts.has(spec["serviceAccountName"])) return false;
  const owners: unknown = metadata["ownerReferences"];
  return Array.isArray(owners) && owners.some((owner) => textOf(objectOf(owner)["kind"]) === "DaemonSet");
}
