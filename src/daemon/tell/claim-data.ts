import type { JsonText } from "../../base/brand.ts";
import { deadline, type Clock } from "../../base/clock.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseResult } from "../../cni/result.ts";
import { networkDataPatch, type ClaimNetworkData, type NetworkData } from "../../kube/claims/network-data-patch.ts";
import { KubeError, type KubeRequest } from "../../kube/client/api.ts";
import type { AllocatedDevice, ClaimView } from "../../view/claim-view.ts";
import type { PodClaims } from "../../view/pod-claims.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import { deviceOf } from "./chain-device.ts";

interface ClaimDataQuestion {
  readonly pod: Pick<PodFacts, "namespace" | "uid">;
  readonly claims: PodClaims;
  readonly view: ClaimView;
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
  chains: readonly Chain[],
  results: readonly (JsonText | undefined)[],
  { pod, claims, view, clock, lost }: ClaimDataQuestion,
): Promise<readonly KubeRequest[]> {
  const dataOf = new Map(
    chains.flatMap((chain, index): (readonly [string, NetworkData])[] => {
      const device = deviceOf(chain);
      return device === undefined ? [] : [[device, networkData(chain, results[index])]];
    }),
  );
  const names = [...claims.refs.map(({ claim }) => claim), ...(claims.extended ? [claims.extended.claim] : [])];
  const late = (): KubeError => new KubeError("api-unreachable", "the claims could not be read in time");
  using limit = deadline(clock, lookMsMax, late);
  const patches: KubeRequest[] = [];
  for (const claim of new Set(names)) {
    const answer = await view.claim(pod.namespace, claim, limit.signal);
    if (typeof answer === "string") continue;
    const owner = `levee-${pod.uid}`;
    const { devices, isTouched } = await devicesIn(answer, { dataOf, lost, view, signal: limit.signal });
    if (isTouched) patches.push(networkDataPatch({ namespace: pod.namespace, claim, owner, devices }));
  }
  return patches;
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
