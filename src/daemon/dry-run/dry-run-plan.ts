import type { ContainerId, IfName, Namespace } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { planPlugged } from "../../attachment/plan-plugged.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import { isBridgeType } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { View } from "../../view/view.ts";
import { lacksLink } from "../../wire/netns-links.ts";
import type { NetworkGate } from "../health/network-gate.ts";
import { bridgeOf } from "../health/network-needs.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { liveNetworks } from "../look-up/live-networks.ts";
import { sourceOf } from "../look-up/networks.ts";
import { definitionOf } from "../look-up/pod-request.ts";

export interface DryRunPlanNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly view: View;
  readonly confs: ConfCache;
  readonly networkGate: Pick<NetworkGate, "refuse">;
}

export interface DryRunAim {
  readonly namespace: string;
  readonly name: string;
  readonly containerId: ContainerId;
  readonly hand: Hand;
  readonly signal: AbortSignal;
}

/** The first name that Multus gives to an attached network. */
const ifname = "net1" as IfName;

/** Plans the chain of one network for no pod. Throws when it cannot be tried without harm. */
export async function planDryRun(aim: DryRunAim, needs: DryRunPlanNeeds): Promise<Chain> {
  const { source, definition } = await findSource(aim, needs);
  refuseDevice(source);
  const element = { namespace: definition.namespace, name: definition.name, unknownKeys: [] };
  const request = { ifname, args: argsOf(aim), containerId: aim.containerId };
  const chain = planPlugged({ element, source }, { request, deviceInfoDir: needs.config.deviceInfoDir }, ifname);
  await needs.networkGate.refuse(aim.hand, [chain], new Map([[chain.network, definition]]));
  await refuseNewBridge(aim.hand, chain);
  return chain;
}

async function findSource(
  { namespace, name, signal }: DryRunAim,
  { clock, config, view, confs }: DryRunPlanNeeds,
): Promise<{ readonly source: NetworkSource; readonly definition: NetworkDefinition }> {
  const known = liveNetworks(view, clock, { signal });
  const definition = await definitionOf({ namespace: namespace as Namespace, name, unknownKeys: [] }, known);
  const conf = effectiveNetConf(asJsonText("{}", "an empty configuration"), config);
  return { definition, source: await sourceOf(definition, conf, { view: known, confs }) };
}

/** Plugins that move a device of the host. A namespace that ends takes a virtual one with it. */
const takesDevice: ReadonlySet<string> = new Set(["host-device", "sriov", "ib-sriov", "accelerated-bridge"]);

function refuseDevice({ network, conf, resourceName, deviceRequest }: NetworkSource): void {
  if (resourceName !== undefined) {
    const from = deviceRequest === undefined || deviceRequest === "" ? "" : ` from the claim ${deviceRequest}`;
    throw new LeveeError(
      "field-unsupported",
      `Cannot try ${network}: it needs a device of ${resourceName}${from}, which the kubelet allots to pods only; start a pod with it instead`,
    );
  }
  const taker = conf.plugins.find(({ type }) => takesDevice.has(type));
  if (taker !== undefined)
    throw new LeveeError(
      "field-unsupported",
      `Cannot try ${network}: the plugin ${taker.type} takes a device away from the host; start a pod with it instead`,
    );
}

/** The plugin would make the bridge, and its DEL would leave it. */
async function refuseNewBridge(hand: Hand, { network, links }: Chain): Promise<void> {
  const bridges = links.flatMap(({ type, stdin }) => (isBridgeType(type) ? [bridgeOf(stdin)] : []));
  const host = bridges.length === 0 ? undefined : await hand.links("");
  const missing = bridges.find((name) => host === undefined || lacksLink(host, name));
  if (missing !== undefined)
    throw new LeveeError(
      "network-not-ready",
      `Cannot try ${network}: the host has no bridge ${missing}, so the plugin would make it and leave it there; make the bridge (ip link add ${missing} type bridge), or let the first pod make it`,
    );
}

/** Plugins such as whereabouts keep addresses under the pod's name, so it gets one that no pod has. */
function argsOf({ namespace, containerId }: DryRunAim): ReturnType<typeof parseCniArgs> {
  return parseCniArgs(
    `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${containerId};K8S_POD_INFRA_CONTAINER_ID=${containerId}`,
  );
}
