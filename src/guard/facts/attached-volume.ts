import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../json-values.ts";

/** Kubelet makes these on the node itself. A volume of any other kind, also of a future one, is attached to the node. */
const madeOnTheNode: ReadonlySet<string> = new Set([
  "configMap",
  "downwardAPI",
  "emptyDir",
  "hostPath",
  "image",
  "projected",
  "secret",
]);

/**
 * The first volume of a workload's pods that has to be attached to a node and taken off it again; undefined without one.
 * Restarting such a workload moves its data's only door, which the guard leaves to a person.
 */
export function attachedVolume(workloadSpec: JsonObject): string | undefined {
  const [claim] = objectsOf(workloadSpec["volumeClaimTemplates"]);
  if (claim !== undefined) return textOf(objectOf(claim["metadata"])["name"]) || "of a claim";
  const podSpec = objectOf(objectOf(workloadSpec["template"])["spec"]);
  const found = objectsOf(podSpec["volumes"]).find((volume) =>
    Object.keys(volume).some((key) => key !== "name" && !madeOnTheNode.has(key)),
  );
  return found === undefined ? undefined : textOf(found["name"]) || "without a name";
}
