import { deadline, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { grpcCall } from "./grpc-call.ts";
import { protoMessages, protoTexts } from "./protobuf.ts";

/** The device IDs that the kubelet allotted to one pod, by resource name, sorted as Multus sorts them since v4.3.0. */
export type AllottedDevices = ReadonlyMap<string, readonly string[]>;

/** The kubelet's own limit for this answer. */
const answerBytesMax = 16 * 1_024 * 1_024;
/** What the kubelet says about one pod. */
export interface PodAllotment {
  /** Of device plugins, and of claims by the claim's name, as in Multus 4.3.0. */
  readonly devices: AllottedDevices;
  /** The names of all its claims. */
  readonly claims: ReadonlySet<string>;
}

const listMethod = "/v1.PodResourcesLister/List";

/** Asks the kubelet which devices a pod has. The answer covers the whole node; only the pod's part is kept. */
export async function podResources(options: {
  readonly socketPath: string;
  readonly namespace: string;
  readonly name: string;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<PodAllotment> {
  const { socketPath, limitMs } = options;
  const late = (): LeveeError =>
    new LeveeError(
      "try-later",
      `Cannot find the pod's devices: the kubelet did not answer on ${socketPath} within ${limitMs} ms`,
    );
  using limit = deadline(options.clock, limitMs, late, options.signal);
  const answer = await grpcCall({
    socketPath,
    method: listMethod,
    bytesMax: answerBytesMax,
    signal: limit.signal,
  });
  return allotmentOf(answer, options);
}

/** The field numbers are those of the kubelet's published API `podresources/v1`. */
export function allotmentOf(answer: Uint8Array, pod: { namespace: string; name: string }): PodAllotment {
  const devices = new Map<string, string[]>();
  const claims = new Set<string>();
  for (const podResource of protoMessages(answer, 1)) {
    const [name] = protoTexts(podResource, 1);
    const [namespace] = protoTexts(podResource, 2);
    if (name !== pod.name || namespace !== pod.namespace) continue;
    for (const container of protoMessages(podResource, 3)) addContainer(container, devices, claims);
  }
  for (const ids of devices.values()) ids.sort(compare);
  return { devices, claims };
}

function addContainer(container: Uint8Array, devices: Map<string, string[]>, claims: Set<string>): void {
  for (const device of protoMessages(container, 2)) {
    const [resource = ""] = protoTexts(device, 1);
    add(devices, resource, protoTexts(device, 2));
  }
  for (const dynamic of protoMessages(container, 5)) {
    const [claim = ""] = protoTexts(dynamic, 2);
    claims.add(claim);
    for (const resource of protoMessages(dynamic, 4)) {
      const names = protoMessages(resource, 1).flatMap((cdi) => protoTexts(cdi, 1));
      // As in Multus: a claim's devices have the claim's name, and the ID follows the `=` of the CDI name.
      add(
        devices,
        claim,
        names.flatMap((cdi) => (cdi.includes("=") ? [cdi.slice(cdi.indexOf("=") + 1)] : [])),
      );
    }
  }
}

function add(devices: Map<string, string[]>, resource: string, ids: readonly string[]): void {
  if (ids.length === 0) return;
  devices.set(resource, [...(devices.get(resource) ?? []), ...ids]);
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
