import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { errnoOf, LeveeError, toLeveeError } from "../base/errors.ts";
import { checkpointDevices } from "../kube/device-checkpoint.ts";
import { podResources, type AllottedDevices } from "../kube/pod-resources.ts";
import type { NetworkDefinition, PodFacts } from "./view.ts";

/** The network's annotation that names the resource whose devices it is made of. */
export const resourceNameAnnotation = "k8s.v1.cni.cncf.io/resourceName";

export interface DeviceSourceOptions {
  readonly kubeletDir: string;
  readonly clock: Clock;
  readonly limitMs: number;
}

/** The device that a network gets from those the kubelet allotted to the pod. */
export interface Device {
  readonly resourceName: string;
  readonly deviceId: string;
}

/**
 * Hands out a pod's devices to its networks, each device once, in the order of the networks. The kubelet is asked when
 * the first network needs one, and only then.
 */
export class PodDevices {
  readonly #pod: PodFacts;
  readonly #options: DeviceSourceOptions;
  readonly #signal: AbortSignal;
  readonly #given = new Map<string, number>();
  #allotted: Promise<AllottedDevices> | undefined;

  constructor(pod: PodFacts, options: DeviceSourceOptions, signal: AbortSignal) {
    this.#pod = pod;
    this.#options = options;
    this.#signal = signal;
  }

  /** Undefined for a network without a resource, and when the pod has no device of it left: then it goes without, as with Multus. */
  async deviceFor(definition: NetworkDefinition): Promise<Device | undefined> {
    const resourceName = definition.annotations[resourceNameAnnotation] ?? "";
    if (resourceName === "") return undefined;
    const allotted = await (this.#allotted ??= this.#ask());
    const place = this.#given.get(resourceName) ?? 0;
    const deviceId = allotted.get(resourceName)?.[place];
    if (deviceId === undefined) return undefined;
    this.#given.set(resourceName, place + 1);
    return { resourceName, deviceId };
  }

  async #ask(): Promise<AllottedDevices> {
    const { kubeletDir, clock, limitMs } = this.#options;
    const { namespace, name, uid } = this.#pod;
    const socketPath = join(kubeletDir, "pod-resources/kubelet.sock");
    if (await isThere(socketPath)) {
      return podResources({ socketPath, namespace, name, limitMs, clock, signal: this.#signal });
    }
    const checkpoint = join(kubeletDir, "device-plugins/kubelet_internal_checkpoint");
    return checkpointDevices(checkpoint, uid).catch((cause: unknown) => {
      const { message } = toLeveeError(cause, "The checkpoint cannot be read");
      throw new LeveeError(
        "io-failed",
        `Cannot tell the devices of ${namespace}/${name}: there is no ${socketPath}, and ${message}`,
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
