import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { NetnsPath } from "../../base/brand.ts";
import { checkIsolation } from "../../attachment/isolation.ts";
import type { JoiningNetwork, NetworkChange } from "../../attachment/network-changes.ts";
import { planPlugged } from "../../attachment/plan-plugged.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import { networkNameOf } from "../../attachment/selection-element.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { View } from "../../view/view.ts";
import { lacksLink } from "../../wire/netns-links.ts";
import type { PlannerNeeds } from "../attach/planner.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { withDevices } from "../look-up/devices.ts";
import { liveNetworks } from "../look-up/live-networks.ts";
import { sourceOf } from "../look-up/networks.ts";
import { definitionOf } from "../look-up/pod-request.ts";
import { plugConf, type PlugConfNeeds } from "./plug-conf.ts";

export interface PlugPlanNeeds extends PlugConfNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly view: View;
  readonly confs: ConfCache;
  readonly networkGate: Pick<PlannerNeeds["networkGate"], "refuse">;
  readonly journal: Pick<Journal, "inNetns" | "leaks">;
}

/** What a plan is for. */
export interface PlugAim {
  readonly pod: PodFacts;
  readonly record: AttachmentRecord;
  readonly hand: Hand;
  readonly signal: AbortSignal;
  /** Told which device the network gets, and which were skipped. */
  readonly note: (detail: string) => void;
}

/** Plans the chain of one network for a running pod. Nothing is done to the system. */
export async function planJoining(aim: PlugAim, change: NetworkChange, needs: PlugPlanNeeds): Promise<Chain> {
  const { joining } = change;
  if (joining === undefined) throw new LeveeError("internal", "Cannot plan a change without a network that comes");
  const { source, definition } = await findSource(aim, joining, needs);
  const equipped = await withUnusedDevice(source, aim, change, needs);
  const { record } = aim;
  const args = parseCniArgs(record.chains.find(({ isDefault }) => isDefault)?.cniArgs ?? "");
  const request = { ifname: record.ifname, args, containerId: record.containerId };
  const wanted = { element: joining.element, source: equipped };
  const chain = planPlugged(wanted, { request, deviceInfoDir: needs.config.deviceInfoDir }, joining.ifname);
  refuseKnown(aim, change, needs);
  await needs.networkGate.refuse(aim.hand, [chain], new Map([[chain.network, definition]]));
  return chain;
}

async function findSource(
  { pod, signal }: PlugAim,
  { element }: JoiningNetwork,
  needs: PlugPlanNeeds,
): Promise<{ readonly source: NetworkSource; readonly definition: NetworkDefinition }> {
  const conf = await plugConf(needs);
  checkIsolation({ isEnabled: conf.namespaceIsolation, globalNamespaces: conf.globalNamespaces }, pod.namespace, [
    element,
  ]);
  const view = liveNetworks(needs.view, needs.clock, { signal });
  const definition = await definitionOf(element, view);
  return { definition, source: await sourceOf(definition, conf, { view, confs: needs.confs }) };
}

/** The kubelet allots devices when a pod starts, so a network gets one that no other network of the pod uses. */
async function withUnusedDevice(
  source: NetworkSource,
  { pod, record, signal, note }: PlugAim,
  { leaving }: NetworkChange,
  { config, clock, view }: PlugPlanNeeds,
): Promise<NetworkSource> {
  const { resourceName } = source;
  if (resourceName === undefined) return source;
  const used: string[] = [];
  for (const { network, ifname, multus } of record.chains.filter((chain) => !leaving.includes(chain))) {
    const { deviceId, ...held } = multus.request;
    if (deviceId === undefined) continue;
    used.push(deviceId);
    if ((held.resourceName ?? resourceName) === resourceName)
      note(`skipped the device ${deviceId}: ${network} has it as ${ifname}`);
  }
  const { kubeletDir, addLookupMs: limitMs } = config;
  const options = { kubeletDir, clock, limitMs, signal, live: view.live, note, used };
  const { others } = await withDevices({ defaultNetwork: noDevice(source), others: [{ source }] }, pod, options);
  const [free] = others;
  if (free?.source.resource !== undefined) return free.source;
  const inUse = used.length === 0 ? "the pod has none" : `the pod's networks use ${used.join(", ")}`;
  throw new LeveeError(
    "field-unsupported",
    `Cannot attach ${source.network} to the running pod: it needs an unused device of ${resourceName}, and ${inUse}; the kubelet allots devices only when a pod starts, so ask for one more in the pod's resources`,
  );
}

function noDevice({ network, conf }: NetworkSource): NetworkSource {
  return { network, conf };
}

/** Names of the pod's own networks that stay, of other containers in the namespace, and of leaks under that name. */
function refuseKnown({ record }: PlugAim, { leaving, joining }: NetworkChange, { journal }: PlugPlanNeeds): void {
  if (joining === undefined) return;
  const { element, ifname } = joining;
  const { containerId, netns } = record;
  const others = netns.identity === undefined ? [] : journal.inNetns(netns.identity);
  const stays = record.chains.filter((chain) => !leaving.includes(chain));
  const chains = [...stays, ...others.filter(({ token }) => token !== record.token).flatMap((other) => other.chains)];
  const taken = chains.find((chain) => chain.ifname === ifname);
  if (taken !== undefined)
    throw new LeveeError(
      "interface-taken",
      `Cannot attach ${networkNameOf(element)} as ${ifname}: ${taken.network} has that interface name in the pod; name another one in the annotation`,
    );
  const leak = journal.leaks().find((one) => one.containerId === containerId && hasIfname(one.chains, ifname));
  // Plugins file addresses under container and interface name: the leak's next DEL would free the new one's.
  if (leak !== undefined)
    throw new LeveeError(
      "try-later",
      `Cannot attach ${networkNameOf(element)} as ${ifname} yet: something of an earlier attachment of that name is left (levee leaks ${leak.id}): ${leak.reason}`,
    );
}

function hasIfname(chains: readonly Chain[], ifname: string): boolean {
  return chains.some((chain) => chain.ifname === ifname);
}

/** An interface that is not ours is never touched. */
export async function refuseForeign(hand: Hand, netns: string, chains: readonly Chain[]): Promise<void> {
  const links = await hand.links(netns as NetnsPath); // the record's own, which its call brought
  const foreign = links === undefined ? undefined : chains.find(({ ifname }) => !lacksLink(links, ifname));
  if (foreign === undefined) return;
  throw new LeveeError(
    "interface-taken",
    `Cannot attach ${foreign.network} as ${foreign.ifname}: there is an interface ${foreign.ifname} in ${netns} that Levee did not make`,
  );
}
