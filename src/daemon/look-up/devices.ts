import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError, toLeveeError } from "../../base/errors.ts";
import { checkpointDevices } from "../../kube/kubelet/device-checkpoint.ts";
import { podResources, type AllottedDevices } from "../../kube/kubelet/pod-resources.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { LiveView } from "../../view/view.ts";
import { DeviceShares } from "./device-shares.ts";
import type { PodNetworks } from "./networks.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface DeviceSourceOptions {
  readonly kubeletDir: string;
  readonly clock: Clock;
  /** For the kubelet's answer. Half of it is kept for the checkpoint: a disk may be as slow as the kubelet. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** The API server, which has the pod's claims; undefined on a machine without a cluster. */
  readonly live?: LiveView | undefined;
  /** Told where each device came from and went. */
  readonly note?: (detail: string) => void;
  /** IDs that other networks of a running pod have. */
  readonly used?: readonly string[];
}

/**
 * Gives each network that needs a device one of the pod's: of those that the kubelet allotted to it, and those of its
 * claims. A network gets none when none is left, as with Multus: its plugin then fails with the reason.
 */
export async function withDevices(
  networks: PodNetworks,
  pod: PodFacts,
  options: DeviceSourceOptions,
): Promise<PodNetworks> {
  const all = [networks.defaultNetwork, ...networks.others.map(({ source }) => source)];
  const sources = all.filter(({ resourceName }) => resourceName !== undefined);
  if (sources.length === 0) return networks;
  const { allotted, claims, silence } = await ofKubelet(pod, options);
  const claimed = await ofClaims(pod, sources, claims, options);
  const shares = new DeviceShares({ allotted, claims: claims ?? noClaims, claimed, used: options.used ?? [] }, sources);
  const equip = (source: NetworkSource): NetworkSource => {
    const { resourceName, network } = source;
    if (resourceName === undefined) return source;
    const device = shares.next(source);
    // The checkpoint lacks claims, and the newest pods for a moment. Only the kubelet can say that there is no device.
    if (device === undefined && silence !== undefined) throw silence;
    if (device === undefined) {
      options.note?.(`${network} gets no device: the pod has no ${resourceName} left`);
      return source;
    }
    options.note?.(`${network} gets the device ${device.deviceId} of ${resourceName}, from ${device.origin}`);
    return { ...source, resource: { resourceName, deviceId: device.deviceId } };
  };
  const defaultNetwork = equip(networks.defaultNetwork);
  return {
    ...networks,
    defaultNetwork,
    others: networks.others.map((other) => ({ ...other, source: equip(other.source) })),
  };
}

const noClaims: ReadonlySet<string> = new Set();

interface KubeletDevices {
  readonly allotted: AllottedDevices;
  /** Undefined when they come from the checkpoint, which has no claims. */
  readonly claims?: ReadonlySet<string>;
  /** Why the kubelet's socket did not answer, when the devices come from its checkpoint instead. */
  readonly silence?: LeveeError;
}

async function ofKubelet(pod: PodFacts, options: DeviceSourceOptions): Promise<KubeletDevices> {
  const { kubeletDir, clock, limitMs, signal, note } = options;
  const { namespace, name } = pod;
  const socketPath = join(kubeletDir, "pod-resources/kubelet.sock");
  if (!(await isThere(socketPath)))
    return { allotted: await readCheckpoint(pod, kubeletDir, `there is no ${socketPath}`) };
  try {
    const answer = await podResources({ socketPath, namespace, name, limitMs: limitMs / 2, clock, signal });
    return { allotted: answer.devices, claims: answer.claims };
  } catch (thrown) {
    signal.throwIfAborted();
    const silence = toLeveeError(thrown, `Cannot ask the kubelet on ${socketPath}`);
    const allotted = await readCheckpoint(pod, kubeletDir, silence.message, silence.code);
    note?.(`the kubelet's checkpoint has its devices, because the socket failed: ${silence.message}`);
    return { allotted, silence };
  }
}

async function readCheckpoint(
  { namespace, name, uid }: PodFacts,
  kubeletDir: string,
  why: string,
  code: LeveeError["code"] = "io-failed",
): Promise<AllottedDevices> {
  const path = join(kubeletDir, "device-plugins/kubelet_internal_checkpoint");
  return await checkpointDevices(path, uid).catch((cause: unknown) => {
    const { message } = toLeveeError(cause, "The checkpoint cannot be read");
    throw new LeveeError(code, `Cannot find the devices of ${namespace}/${name}: ${why}, and ${message}`, { cause });
  });
}

/** Loaded only for a pod that has claims, or may have some. */
async function ofClaims(
  pod: PodFacts,
  sources: readonly NetworkSource[],
  claims: ReadonlySet<string> | undefined,
  options: DeviceSourceOptions,
): Promise<DevicesOfClaims> {
  const { live } = options;
  // The kubelet has prepared all claims before it starts the pod, so without any it has none.
  const mayHave = pod.claims !== undefined || (pod.isFromCall === true && claims?.size !== 0);
  if (live === undefined || !mayHave) return [];
  const { devicesOfClaims } = await import("./devices-of-claims.ts");
  return await devicesOfClaims(pod, sources, { ...options, live, note: (detail) => options.note?.(detail) });
}

type DevicesOfClaims = ConstructorParameters<typeof DeviceShares>[0]["claimed"];

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return false;
    throw thrown;
  }
}
