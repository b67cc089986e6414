import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import { isInstanceManager } from "../../decide/restart/restart-steps.ts";
import type { RestartWorkloadStep } from "../../decision/step.ts";
import { attachedVolume } from "../../facts/attached-volume.ts";
import { countOf } from "../../json-values.ts";
import type { PatchOperation } from "./workload-patch.ts";

/** The annotation of `kubectl rollout restart`. The policy on the guard's account lets it set this one and no other. */
const restartedAt = "kubectl.kubernetes.io/restartedAt";

type RestartPatch =
  | { readonly patch: readonly PatchOperation[] }
  /** This Decision has restarted it already. */
  | { readonly isDone: true }
  /** Why it is not restarted. */
  | { readonly leftAlone: string };

/**
 * The patch that restarts a workload as just read. The value is the time at which the Decision began, so the same Decision
 * restarts a workload once, however often the step begins. The API server refuses the patch if the workload was replaced
 * or changed since it was read.
 */
export function restartPatch({ restartWorkload }: RestartWorkloadStep, live: unknown, beganAt: string): RestartPatch {
  const { uid, name } = restartWorkload;
  if (live === undefined) return { leftAlone: "it is gone" };
  const metadata = objectOf(objectOf(live)["metadata"]);
  const spec = objectOf(objectOf(live)["spec"]);
  if (textOf(metadata["uid"]) !== uid) return { leftAlone: `it was replaced: its UID is no longer ${uid}` };
  const annotations = annotationsOf(spec);
  if (annotations?.[restartedAt] === beganAt) return { isDone: true };
  const why = unfit(name, spec);
  if (why !== undefined) return { leftAlone: why };
  const place = "/spec/template/metadata/annotations";
  return {
    patch: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path: "/metadata/generation", value: countOf(metadata["generation"]) },
      annotations === undefined
        ? { op: "add", path: place, value: { [restartedAt]: beganAt } }
        : { op: "add", path: `${place}/${restartedAt.replace("/", "~1")}`, value: beganAt },
    ],
  };
}

/** Seen at the proposal too; people may have changed it since. */
function unfit(name: string, spec: JsonObject): string | undefined {
  const volume = attachedVolume(spec);
  if (volume !== undefined) return `its volume ${JSON.stringify(volume)} is attached to its nodes`;
  if (isInstanceManager(name)) return "volumes run through it";
  if (objectOf(spec["updateStrategy"])["type"] === "OnDelete") return "its update strategy is OnDelete";
  return spec["paused"] === true ? "it is paused" : undefined;
}

/** Undefined where the template has none: a JSON patch cannot add to a map that does not exist. */
function annotationsOf(spec: JsonObject): JsonObject | undefined {
  const metadata = objectOf(objectOf(spec["template"])["metadata"]);
  return metadata["annotations"] === undefined ? undefined : objectOf(metadata["annotations"]);
}
