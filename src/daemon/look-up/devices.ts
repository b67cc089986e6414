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
  readonly limitMs: number;
  readonly signal: AbortSignal;
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
  #allotted: Promise<AllottedDevices> | undefined;

  constructor(pod: PodFacts, options: DeviceSourceOptions) {
    this.#pod = pod;
    this.#options = options;
  }

  /** A network gets no device when none is left, as with Multus: its plugin then fails with the reason. */
  async equip(source: NetworkSource): Promise<NetworkSource> {
    const { resourceName } = source;
    if (resourceName === undefined) return source;
    const allotted = await (this.#allotted ??= this.#ask());
    const place = this.#given.get(resourceName) ?? 0;
    const deviceId = allotted.get(resourceName)?.[place];
    if (deviceId === undefined) return source;
    this.#given.set(resourceName, place + 1);
    return { ...source, resource: { resourceName, deviceId } };
  }

  async #ask(): Promise<AllottedDevices> {
    const { kubeletDir, clock, limitMs, signal } = this.#options;
    const { namespace, name, uid } = this.#pod;
    const socketPath = join(kubeletDir, "pod-resources/kubelet.sock");
    if (await isThere(socketPath)) {
      return podResources({ socketPath, namespace, name, limitMs, clock, signal });
    }
    const checkpoint = join(kubeletDir, "device-plugins/kubelet_internal_checkpoint");
    return checkpointDevices(checkpoint, uid).catch((cause: unknown) => {
      const { message } = toLeveeError(cause, "The checkpoint cannot be read");
      throw new LeveeError(
        "io-failed",
        `Cannot find the devices of ${namespace}/${name}: there is no ${socketPath}, and ${message}`,
        { cause },
      );
    });
  }
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
