import { KubeError } from "../../kube/client/api.ts";
import { gateApiVersion } from "../../wire/reboot-gate.ts";
import { CommandFailure } from "../failure.ts";
import type { GatePlace } from "./gate-place.ts";
import { gateRequestMs } from "./read-gates.ts";

interface Word {
  readonly kind: "RebootException" | "DecisionApproval";
  /** The API server adds a few letters. */
  readonly namePrefix: string;
  readonly spec: object;
}

/** Creates what a person says, in the guard's namespace, and resolves with the object's JSON. */
export async function postWord(place: GatePlace, { kind, namePrefix, spec }: Word): Promise<string> {
  const { api, namespace, signal } = place;
  const metadata = { generateName: namePrefix, namespace };
  try {
    return await api.call({
      method: "POST",
      path: `/apis/${gateApiVersion}/namespaces/${encodeURIComponent(namespace)}/${kind.toLowerCase()}s`,
      body: JSON.stringify({ apiVersion: gateApiVersion, kind, metadata, spec }),
      deadlineMs: gateRequestMs,
      signal,
    });
  } catch (thrown) {
    throw missing(thrown, place, kind) ?? thrown;
  }
}

/** A server without the namespace and one without the definition both answer 404; only the text tells them apart. */
function missing(thrown: unknown, { namespace }: GatePlace, kind: Word["kind"]): CommandFailure | undefined {
  if (!(thrown instanceof KubeError) || thrown.status !== 404) return undefined;
  const facts = { cause: thrown };
  return /namespaces "[^"]*" not found/u.test(thrown.message)
    ? new CommandFailure("namespace-unknown", `Cannot make a ${kind}: there is no namespace ${namespace}`, {
        ...facts,
        remedy: "leave -n away for levee-system, or name the namespace in which the guard runs",
      })
    : new CommandFailure("gate-absent", `Cannot make a ${kind}: this cluster does not have that CRD`, {
        ...facts,
        remedy: "kubectl apply -f crds.yaml of the release",
      });
}
