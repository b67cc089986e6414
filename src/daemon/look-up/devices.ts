import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError, toLeveeError } from "../../base/errors.ts";
import { checkpointDevices } from "../../kube/kubelet/device-checkpoint.ts";
import { podResources, type AllottedDevices } from "../../kube/kubelet/pod-resources.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { PodNetworks } from "./networks.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface DeviceSourceOptions {
  readonly kubeletDir: string;
  readonly clock: Clock;
  /** For the kubelet's answer. Half of it is kept for the checkpoint: a disk may be as slow as the kubelet. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Called when the devices come from another place than the kubelet's socket. */
  readonly note?: (detail: string) => void;
}

/** Gives each network that needs a device one of the devices that the kubelet allotted to the pod. */
export async function withDevices(
  networks: PodNetworks,
  pod: PodFacts,
  options: DeviceSourceOptions,
): Promise<PodNetworks> {
  const devices = new PodDevices(pod, options);
  const others: PodNetworks["others"][number][] = [];
  const defaultNetwork = await devices.equip(networks.defaultNetwork);
  for (const other of networks.others) others.push({ ...other, source: await devices.equip(other.source) });
  return { ...networks, defaultNetwork, others };
}

/**
 * Gives a pod's devices to its networks, each device once, in the order of the networks. The kubelet is asked only when
 * a network needs a device.
 */
class PodDevices {
  readonly #pod: PodFacts;
  readonly #options: DeviceSourceOptions;
  readonly #given = new Map<string, number>();
  #found: Promise<FoundDevices> | undefined;

  constructor(pod: PodFacts, options: DeviceSourceOptions) {
    this.#pod = pod;
    this.#options = options;
  }

  /** A network gets no device when none is left, as with Multus: its plugin then fails with the reason. */
  async equip(source: NetworkSource): Promise<NetworkSource> {
    const { resourceName } = source;
    if (resourceName === undefined) return source;
    const { devices, silence } = await (this.#found ??= this.#find());
    const place = this.#given.get(resourceName) ?? 0;
    const deviceId = devices.get(resourceName)?.[place];
    // The checkpoint lacks claims, and the newest pods for a moment. Only the kubelet can say that there is no device.
    if (deviceId === undefined && silence !== undefined) throw silence;
    if (deviceId === undefined) return source;
    this.#given.set(resourceName, place + 1);
    return { ...source, resource: { resourceName, deviceId } };
  }

  async #find(): Promise<FoundDevices> {
    const { kubeletDir, clock, limitMs, signal, note } = this.#options;
    const { namespace, name } = this.#pod;
    const socketPath = join(kubeletDir, "pod-resources/kubelet.sock");
    if (!(await isThere(socketPath))) return { devices: await this.#readCheckpoint(`there is no ${socketPath}`) };
    try {
      return { devices: await podResources({ socketPath, namespace, name, limitMs: limitMs / 2, clock, signal }) };
    } catch (thrown) {
      signal.throwIfAborted();
      const silence = toLeveeError(thrown, `Cannot ask the kubelet on ${socketPath}`);
      const devices = await this.#readCheckpoint(silence.message, silence.code);
      note?.(`the kubelet's checkpoint has its devices, because the socket failed: ${silence.message}`);
      return { devices, silence };
    }
  }

  async #readCheckpoint(why: string, code: LeveeError["code"] = "io-failed"): Promise<AllottedDevices> {
    const { namespace, name, uid } = this.#pod;
    const path = join(this.#options.kubeletDir, "device-plugins/kubelet_internal_checkpoint");
    return await checkpointDevices(path, uid).catch((cause: unknown) => {
      const { message } = toLeveeError(cause, "The checkpoint cannot be read");
      throw new LeveeError(code, `Cannot find the devices of ${namespace}/${name}: ${why}, and ${message}`, {
        cause,
      });
    });
  }
}

interface FoundDevices {
  readonly devices: AllottedDevices;
  /** Why the kubelet's socket did not answer, when the devices come from its checkpoint instead. */
  readonly silence?: LeveeError;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return false;
    throw thrown;
  }
}
