import type { ContainerId, IfName, Namespace } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { planPlugged } from "../../attachment/plan-plugged.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { View } from "../../view/view.ts";
import type { NetworkGate } from "../health/network-gate.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { liveNetworks } from "../look-up/live-networks.ts";
import { sourceOf } from "../look-up/networks.ts";
import { definitionOf } from "../look-up/pod-request.ts";
import { refuseDevice, refuseFixed, refuseNewBridge, refuseNewGateway } from "./dry-run-refusals.ts";

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
  refuseFixed(source);
  const element = { namespace: definition.namespace, name: definition.name, unknownKeys: [] };
  const request = { ifname, args: argsOf(aim), containerId: aim.containerId };
  const chain = planPlugged({ element, source }, { request, deviceInfoDir: needs.config.deviceInfoDir }, ifname);
  await needs.networkGate.refuse(aim.hand, [chain], new Map([[chain.network, definition]]));
  await refuseNewBridge(aim.hand, chain);
  await refuseNewGateway(aim.hand, chain);
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

/** Plugins such as whereabouts keep addresses under the pod's name, so it gets one that no pod has. */
function argsOf({ namespace, containerId }: DryRunAim): ReturnType<typeof parseCniArgs> {
  return parseCniArgs(
    `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${containerId};K8S_POD_INFRA_CONTAINER_ID=${containerId}`,
  );
}
