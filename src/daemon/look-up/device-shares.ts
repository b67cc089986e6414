import { LeveeError } from "../../base/errors.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { AllottedDevices } from "../../kube/kubelet/pod-resources.ts";
import type { ClaimedDevice } from "./claimed-devices.ts";

/** All devices of a pod. */
export interface DevicesOfPod {
  /** From the kubelet: of device plugins by resource, of claims by the claim's name. */
  readonly allotted: AllottedDevices;
  /** The names of the claims among those. */
  readonly claims: ReadonlySet<string>;
  readonly claimed: readonly ClaimedDevice[];
  /** IDs that networks of the running pod have, one for each network. No other network gets those. */
  readonly used?: readonly string[];
}

interface ShareableDevice {
  readonly deviceId: string;
  readonly origin: string;
}

/** Gives a pod's devices to its networks, each device once, in the order of the networks. */
export class DeviceShares {
  readonly #pod: DevicesOfPod;
  readonly #given = new Map<string, number>();
  /** Devices of networks that name their request. Other networks on the same pool do not get them. */
  readonly #named = new Map<NetworkSource, ClaimedDevice>();

  constructor(pod: DevicesOfPod, sources: readonly NetworkSource[]) {
    this.#pod = pod;
    for (const source of sources) if ((source.deviceRequest ?? "") !== "") this.#name(source);
  }

  /** The next device for a network; undefined when none is left. */
  next(source: NetworkSource): ShareableDevice | undefined {
    const named = this.#named.get(source);
    if (named !== undefined) return named;
    const { resourceName = "" } = source;
    const place = this.#given.get(resourceName) ?? 0;
    const device = this.#of(resourceName)[place];
    if (device !== undefined) this.#given.set(resourceName, place + 1);
    return device;
  }

  /** As in Multus: those of device plugins and of claims together, sorted. A claim of that name goes first (4.3.0). */
  #of(resourceName: string): readonly ShareableDevice[] {
    const { allotted, claims, claimed, used = [] } = this.#pod;
    const fromKubelet = allotted.get(resourceName) ?? [];
    if (claims.has(resourceName) && fromKubelet.length > 0)
      return fromKubelet
        .filter((deviceId) => !used.includes(deviceId))
        .map((deviceId) => ({ deviceId, origin: `the claim ${resourceName}, by the kubelet` }));
    const taken = new Set([...this.#named.values()].map(({ deviceId }) => deviceId));
    const all = new Map<string, ShareableDevice>();
    for (const deviceId of fromKubelet) all.set(deviceId, { deviceId, origin: "the device plugin" });
    for (const device of claimed)
      if (device.isForAll && device.resourceName === resourceName) all.set(device.deviceId, device);
    for (const deviceId of [...taken, ...used]) all.delete(deviceId);
    return [...all.values()].toSorted((left, right) => (left.deviceId < right.deviceId ? -1 : 1));
  }

  #name(source: NetworkSource): void {
    const { network, resourceName = "", deviceRequest: request = "" } = source;
    const taken = new Set(this.#named.values());
    const ofRequest = this.#pod.claimed.filter((device) => isOf(device, request));
    const free = ofRequest.filter(
      (device) => device.resourceName === resourceName && !taken.has(device) && !this.#isUsed(device),
    );
    const [device] = free.toSorted((left, right) => (left.deviceId < right.deviceId ? -1 : 1));
    if (device === undefined) throw noneFor(network, request, ofRequest.length);
    this.#named.set(source, device);
  }

  /** A device that claims share is there once for each of them. */
  #isUsed({ deviceId }: ClaimedDevice): boolean {
    const { claimed, used = [] } = this.#pod;
    const uses = used.filter((one) => one === deviceId).length;
    return uses > 0 && uses >= claimed.filter((one) => one.deviceId === deviceId).length;
  }
}

/** Of a whole claim, of one request, or of one of a request's alternatives. */
function isOf({ ref, request }: ClaimedDevice, wanted: string): boolean {
  return wanted === `${ref}/${request}` || `${ref}/${request}`.startsWith(`${wanted}/`);
}

/** Another device would be the wrong one. */
function noneFor(network: string, request: string, count: number): LeveeError {
  const why =
    count === 0
      ? "no claim of the pod has a device for a network by that request"
      : `none of its ${count} is of the network's resource and free`;
  return new LeveeError("config-invalid", `Cannot give ${network} a device of ${request}: ${why}`);
}
