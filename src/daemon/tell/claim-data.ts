import type { JsonText } from "../../base/brand.ts";
import { deadline, type Clock } from "../../base/clock.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseResult } from "../../cni/result.ts";
import { networkDataPatch, type ClaimNetworkData, type NetworkData } from "../../kube/claims/network-data-patch.ts";
import { KubeError, type KubeRequest } from "../../kube/client/api.ts";
import type { AllocatedDevice, ClaimView } from "../../view/claim-view.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { LiveView, View } from "../../view/view.ts";
import { chainDevice } from "./chain-device.ts";
import type { PodRef } from "./event-teller.ts";

interface ClaimDataQuestion {
  readonly pod: PodRef;
  readonly findPod: View["findPod"];
  readonly live: Pick<LiveView, "claims" | "readPod">;
  readonly clock: Clock;
  /** IDs of devices that the pod no longer uses. */
  readonly lost: ReadonlySet<string>;
}

/** For all claims of one pod. Nobody waits for it. */
const lookMsMax = 10_000;
/** The limits of the API server, which refuses the whole patch otherwise. */
const ipsMax = 16;
const interfaceNameCharsMax = 256;
const hardwareAddressCharsMax = 128;

/** A patch for each claim of the pod with a device that one of its networks has, or had. */
export async function claimPatches(
  { chains, results }: Pick<AttachmentRecord, "chains" | "results">,
  question: ClaimDataQuestion,
): Promise<readonly KubeRequest[]> {
  const { live, clock, lost } = question;
  const late = (): KubeError => new KubeError("api-unreachable", "the claims could not be read in time");
  using limit = deadline(clock, lookMsMax, late);
  const { signal } = limit;
  const pod = await podWithClaims(question, signal);
  const dataOf = networkDataOf(chains, results);
  const patches: KubeRequest[] = [];
  for (const claim of claimNames(pod)) {
    const answer = await live.claims.claim(question.pod.namespace, claim, signal);
    if (typeof answer === "string") continue;
    const { devices, isTouched } = await devicesIn(answer, { dataOf, lost, view: live.claims, signal });
    const owner = `levee-${pod?.uid ?? ""}`;
    if (isTouched) patches.push(networkDataPatch({ namespace: question.pod.namespace, claim, owner, devices }));
  }
  return patches;
}

/** The local copy may lack the pod, or have it as it was before its claims were made. */
async function podWithClaims(
  { pod: { namespace, name, uid }, findPod, live }: ClaimDataQuestion,
  signal: AbortSignal,
): Promise<PodFacts | undefined> {
  const known = await findPod(namespace, name);
  const pod = known?.claims === undefined ? await live.readPod(namespace, name, signal) : known;
  // Another pod may have the name by now; some runtimes give no UID.
  return uid === "" || pod?.uid === uid ? pod : undefined;
}

function claimNames(pod: PodFacts | undefined): ReadonlySet<string> {
  const { refs = [], extended } = pod?.claims ?? {};
  return new Set([...refs.map(({ claim }) => claim), ...(extended === undefined ? [] : [extended.claim])]);
}

function networkDataOf(
  chains: readonly Chain[],
  results: readonly (JsonText | undefined)[],
): ReadonlyMap<string, NetworkData> {
  return new Map(
    chains.flatMap((chain, index): (readonly [string, NetworkData])[] => {
      const device = chainDevice(chain);
      return device === undefined ? [] : [[device, networkData(chain, results[index])]];
    }),
  );
}

interface DeviceQuestion {
  readonly dataOf: ReadonlyMap<string, NetworkData>;
  readonly lost: ReadonlySet<string>;
  readonly view: ClaimView;
  readonly signal: AbortSignal;
}

async function devicesIn(
  allocated: readonly AllocatedDevice[],
  { dataOf, lost, view, signal }: DeviceQuestion,
): Promise<Pick<ClaimNetworkData, "devices"> & { readonly isTouched: boolean }> {
  const devices: ClaimNetworkData["devices"][number][] = [];
  let isTouched = false;
  for (const device of allocated) {
    const { deviceId = "" } = (await view.published(device, signal)) ?? {};
    const data = dataOf.get(deviceId);
    if (data !== undefined) devices.push({ device, data });
    isTouched ||= data !== undefined || lost.has(deviceId);
  }
  return { devices, isTouched };
}

/** A device without an interface in the pod, such as one of DPDK, has only what its plugin says. */
function networkData(chain: Chain, text: JsonText | undefined): NetworkData {
  if (text === undefined) return {};
  const { interfaces, ips } = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
  const own = interfaces.find(({ name, sandbox = "" }) => name === chain.ifname && sandbox !== "");
  const addresses = [...new Set(ips.map(({ address }) => address))].slice(0, ipsMax);
  return {
    ...(own === undefined || own.name.length > interfaceNameCharsMax ? {} : { interfaceName: own.name }),
    ...(addresses.length === 0 ? {} : { ips: addresses }),
    ...(own?.mac === undefined || own.mac === "" || own.mac.length > hardwareAddressCharsMax
      ? {}
      : { hardwareAddress: own.mac }),
  };
}
