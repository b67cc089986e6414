import { LeveeError } from "../../base/errors.ts";
import type { AllocatedDevice, ClaimView, PublishedDevice } from "../../view/claim-view.ts";
import type { ClaimRef, ExtendedClaim, PodClaims } from "../../view/pod-claims.ts";

/** A device that a claim of the pod has, and that its driver publishes for networks. */
export interface ClaimedDevice {
  readonly deviceId: string;
  readonly resourceName: string;
  /** The claim's name in the pod's spec; empty for extended resources. */
  readonly ref: string;
  readonly request: string;
  /** Whether Multus would see it. The others are only for networks that name their request. */
  readonly isForAll: boolean;
  /** Where it comes from, for a person. */
  readonly origin: string;
}

export interface ClaimQuestion {
  readonly namespace: string;
  readonly claims: PodClaims;
  /** The claims that networks of this pod name, by their name in its spec. */
  readonly named: ReadonlySet<string>;
  readonly view: ClaimView;
  readonly signal: AbortSignal;
  readonly note: (detail: string) => void;
}

/**
 * The devices of a pod's claims, in the way of Multus after 4.3.0: each claim in the order of the pod's status, each of its
 * devices by the attributes in this node's slices. A device without them is not for networks and is skipped. The claim
 * behind extended resources is read strictly: there every device is meant for a network.
 */
export async function claimedDevices(question: ClaimQuestion): Promise<readonly ClaimedDevice[]> {
  const { claims, named, note } = question;
  const found: ClaimedDevice[] = [];
  for (const ref of claims.refs.filter(({ name, isInStatus }) => isInStatus || named.has(name))) {
    const allocated = await allocationOf(ref.claim, question);
    if (allocated === undefined) return [];
    for (const device of allocated) {
      const published = await question.view.published(device, question.signal);
      if (isForNetworks(published)) found.push(fromClaim(ref, device, published));
      else note(`skipped ${deviceText(ref.claim, device)}: ${lackOf(published)}`);
    }
  }
  if (claims.extended !== undefined) found.push(...(await extendedDevices(claims.extended, question)));
  return found;
}

/** Undefined where the cluster has no such claims, as before Kubernetes 1.34. */
async function allocationOf(claim: string, question: ClaimQuestion): Promise<readonly AllocatedDevice[] | undefined> {
  const { namespace, view, signal, note } = question;
  const answer = await view.claim(namespace, claim, signal);
  if (answer === "no-api") {
    note("claims were not looked at: the API server has no resource.k8s.io/v1");
    return undefined;
  }
  if (answer === "absent")
    throw new LeveeError("try-later", `Cannot find the devices of the claim ${namespace}/${claim}: it does not exist`);
  if (answer === "unallocated")
    throw new LeveeError(
      "try-later",
      `Cannot find the devices of the claim ${namespace}/${claim}: it has no allocation`,
    );
  return answer;
}

async function extendedDevices(extended: ExtendedClaim, question: ClaimQuestion): Promise<readonly ClaimedDevice[]> {
  const { claim, mappings } = extended;
  const allocated = await allocationOf(claim, question);
  if (allocated === undefined) return [];
  const found: ClaimedDevice[] = [];
  for (const { request, resourceName } of mappings) {
    const devices = allocated.filter((device) => device.request === request);
    if (devices.length === 0) throw strict(claim, `it has no device for the request ${request}`);
    for (const device of devices) {
      const published = await question.view.published(device, question.signal);
      if (!isForNetworks(published)) throw strict(claim, `${deviceText(claim, device)}: ${lackOf(published)}`);
      if (published.resourceName !== resourceName)
        throw strict(claim, `${deviceText(claim, device)} is of ${published.resourceName}, not of ${resourceName}`);
      found.push(fromClaim({ name: "", claim, isInStatus: true }, device, published));
    }
  }
  return found;
}

function strict(claim: string, why: string): LeveeError {
  return new LeveeError("config-invalid", `Cannot use the claim ${claim} of the pod's extended resources: ${why}`);
}

function isForNetworks(published: PublishedDevice | undefined): published is PublishedDevice {
  return published !== undefined && published.deviceId !== "" && published.resourceName !== "";
}

function lackOf(published: PublishedDevice | undefined): string {
  if (published === undefined) return "no ResourceSlice of this node has it";
  return `it has no attribute k8s.cni.cncf.io/${published.deviceId === "" ? "deviceID" : "resourceName"}`;
}

function fromClaim(ref: ClaimRef, device: AllocatedDevice, { deviceId, resourceName }: PublishedDevice): ClaimedDevice {
  const { request } = device;
  const origin = deviceText(ref.claim, device);
  return { deviceId, resourceName, ref: ref.name, request, isForAll: ref.isInStatus, origin };
}

function deviceText(claim: string, { driver, pool, device, request }: AllocatedDevice): string {
  return `${driver}/${pool}/${device} of the claim ${claim}, request ${request}`;
}
