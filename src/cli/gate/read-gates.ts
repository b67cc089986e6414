import { parseRebootException, type RebootException } from "../../guard/gate/reboot-exception.ts";
import { kubeStatusOf } from "../../kube/client/api.ts";
import { listPages } from "../../kube/watch/list-pages.ts";
import { gateApiVersion, gatesPath, parseRebootGate, type RebootGate } from "../../wire/reboot-gate.ts";
import { CommandFailure } from "../failure.ts";
import type { GatePlace } from "./gate-place.ts";

const pageItems = 100;
export const gateRequestMs = 30_000;

/** Those that have waited longest come first. */
export async function readGates(place: GatePlace): Promise<readonly RebootGate[]> {
  const gates: RebootGate[] = [];
  await forEach(place, gatesPath, (item) => {
    const gate = parseRebootGate(item);
    if (gate !== undefined) gates.push(gate);
  });
  const dueMs = (gate: RebootGate): number => gate.rebootRequiredSinceMs ?? Number.MAX_SAFE_INTEGER;
  return gates.toSorted((left, right) => dueMs(left) - dueMs(right) || (left.node < right.node ? -1 : 1));
}

/** Undefined when the node has no gate. A node that does not exist is a failure, as far as this user may see nodes. */
export async function readGate(place: GatePlace, node: string): Promise<RebootGate | undefined> {
  const gate = parseRebootGate(await readObject(place, `${gatesPath}/${encodeURIComponent(node)}`));
  if (gate !== undefined) return gate;
  if (await mayExist(place, node)) return undefined;
  throw new CommandFailure("node-unknown", `Cannot find the node ${node} in this cluster`, {
    remedy: "kubectl get nodes, or levee gate list for those that wait for a reboot",
  });
}

/** The role of an approver alone has no right to read nodes. */
async function mayExist(place: GatePlace, node: string): Promise<boolean> {
  try {
    return (await readObject(place, `/api/v1/nodes/${encodeURIComponent(node)}`)) !== undefined;
  } catch (thrown) {
    if (kubeStatusOf(thrown) === 403) return true;
    throw thrown;
  }
}

/** Oldest first. */
export async function readExceptions(place: GatePlace): Promise<readonly RebootException[]> {
  const exceptions: RebootException[] = [];
  await forEach(place, exceptionsPath(place), (item) => {
    const exception = parseRebootException(item);
    if (exception !== undefined) exceptions.push(exception);
  });
  return exceptions.toSorted((left, right) => left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1));
}

export function exceptionsPath({ namespace }: GatePlace): string {
  return `/apis/${gateApiVersion}/namespaces/${encodeURIComponent(namespace)}/rebootexceptions`;
}

async function readObject({ api, signal }: GatePlace, path: string): Promise<unknown> {
  try {
    return JSON.parse(await api.call({ method: "GET", path, deadlineMs: gateRequestMs, signal })) as unknown; // looked at by the parsers
  } catch (thrown) {
    if (kubeStatusOf(thrown) === 404) return undefined;
    throw thrown;
  }
}

async function forEach({ api, signal }: GatePlace, path: string, onItem: (item: unknown) => void): Promise<void> {
  try {
    await listPages({ api, path, query: {}, signal, pageItems }, onItem);
  } catch (thrown) {
    if (kubeStatusOf(thrown) !== 404) throw thrown;
    throw new CommandFailure("gate-absent", `Cannot list ${path}: this cluster does not have that CRD`, {
      remedy: "kubectl apply -f crds.yaml of the release",
    });
  }
}
