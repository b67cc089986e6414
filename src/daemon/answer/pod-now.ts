import type { Admission } from "../../admission/admission.ts";
import type { Clock } from "../../base/clock.ts";
import type { View } from "../../view/view.ts";
import type { Namespace, PodName } from "../../base/brand.ts";
import { describeBlocker } from "../../admission/rulings.ts";
import type { AdmissionFacts } from "../../admission/facts.ts";
import type { OpenNetwork } from "../../admission/hold/network-breaker.ts";
import type { TimelineEntry } from "../../wire/node-view.ts";
import type { FailingView, OpenNetworkView, PodNow, WaitingView } from "../../wire/pod-now.ts";
import { nodeNetworks } from "../../admission/request.ts";
import type { HungPlugins } from "./hung-plugins.ts";

/** Enough to see the pod's competitors. */
const namespacesMax = 5;

export interface PodNowNeeds {
  readonly admission: Pick<Admission, "facts" | "failuresOf" | "why">;
  readonly clock: Clock;
  readonly hung: Pick<HungPlugins, "all">;
  readonly view: Pick<View, "findPod">;
}

/** The pod's present state in admission; undefined when it neither waits, fails nor hangs. */
export async function podNow(
  pod: { readonly namespace: string; readonly name: string },
  entries: readonly TimelineEntry[],
  needs: PodNowNeeds,
): Promise<PodNow | undefined> {
  const uid = await uidOf(pod, entries, needs);
  const facts = needs.admission.facts();
  const waiting = waitingOf(uid, facts, needs);
  const failing = failingOf(uid, needs);
  const hung = needs.hung.all().find((one) => one.namespace === pod.namespace && one.pod === pod.name);
  if (waiting === undefined && failing === undefined && hung === undefined) return undefined;
  const networks = [nodeNetworks, waiting?.network, failing?.network, ...entries.map(({ network }) => network)];
  return {
    ...(waiting === undefined ? {} : { waiting }),
    ...(failing === undefined ? {} : { failing }),
    ...(hung === undefined ? {} : { hung }),
    ...openAmong(networks, openOf(facts, needs)),
  };
}

/** The newest UID counts, since a recreated pod of the same name has another one. */
async function uidOf(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  entries: readonly TimelineEntry[],
  { view }: PodNowNeeds,
): Promise<string> {
  const told = entries.findLast((entry) => entry.uid !== undefined)?.uid;
  // The names are unchecked, but a made-up name is simply not found.
  return told ?? (await view.findPod(namespace as Namespace, name as PodName))?.uid ?? "";
}

function openAmong(
  networks: readonly (string | undefined)[],
  open: readonly OpenNetworkView[],
): { readonly openNetworks?: readonly OpenNetworkView[] } {
  const openNetworks = open.filter(({ network }) => networks.includes(network));
  return openNetworks.length === 0 ? {} : { openNetworks };
}

function waitingOf(uid: string, facts: AdmissionFacts, { admission }: PodNowNeeds): WaitingView | undefined {
  const view = admission.why(uid);
  if (view === undefined) return undefined;
  const { expectedMs, blocker } = view;
  return {
    class: view.admissionClass,
    waitedMs: Math.round(view.waitedMs),
    limitMs: Math.round(view.limitMs),
    position: view.ahead + 1,
    inLine: view.inLine,
    ofItsNamespace: view.ofItsNamespace,
    namespaces: facts.flows.slice(0, namespacesMax),
    namespacesTotal: view.namespaces,
    running: facts.attaching,
    slots: facts.limit,
    ...(expectedMs === undefined ? {} : { expectedMs: Math.round(expectedMs) }),
    blocker: describeBlocker(blocker),
    ...(blocker.network === undefined ? {} : { network: blocker.network }),
  };
}

function failingOf(uid: string, { admission }: PodNowNeeds): FailingView | undefined {
  const view = admission.failuresOf(uid);
  if (view === undefined) return undefined;
  const { failures, nextTryMs, failure } = view;
  const { cause, reason, network } = failure;
  return { failures, nextTryMs: Math.round(nextTryMs), cause, reason, ...(network === undefined ? {} : { network }) };
}

export function openOf(
  { openNetworks }: AdmissionFacts,
  { clock }: Pick<PodNowNeeds, "clock">,
): readonly OpenNetworkView[] {
  const nowMs = clock.monotonicMs();
  return openNetworks.map(({ network, sinceMs, failures, reason, nextProbeMs }: OpenNetwork) => ({
    network,
    forMs: Math.round(nowMs - sinceMs),
    failures,
    reason,
    nextProbeMs: Math.max(0, Math.round(nextProbeMs - nowMs)),
  }));
}
