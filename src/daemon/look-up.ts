import type { JsonText } from "../base/brand.ts";
import { deadline, type Deadline } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";
import type { AddRequest } from "../cni/verb.ts";
import type { NetConf } from "../config/net-conf.ts";
import type { Call } from "./call.ts";
import { findPod } from "./find-pod.ts";
import { liveNetworks } from "./live-networks.ts";
import { requestOf, resolveNetworks, type NetworkView, type PodNetworks, type PodRequest } from "./networks.ts";
import type { Ports } from "./ports.ts";
import { runtimeAnnotations, sameSelection } from "./runtime-annotations.ts";
import { subjectOfCall } from "./subject.ts";
import type { PodFacts } from "./view.ts";

/** The pod and its networks, found before the ADD gets a slot: a slow or absent API server holds nobody else up. */
export async function lookUp(
  call: Call,
  request: AddRequest,
  held: DisposableStack,
  ports: Ports,
): Promise<PodRequest> {
  const endsMs = ports.clock.monotonicMs() + ports.config.addLookupMs;
  const { pod, how } = await findPod(
    { args: request.args, config: () => earlyConfig(call, held, ports), endsMs, signal: call.signal },
    ports,
  );
  if (how !== undefined) ports.timeline.note(subjectOfCall(request), "found", { detail: how });
  using limit = networksLimit(call, endsMs, ports);
  return await networksWanted(pod, networksOf(call, limit, ports), ports);
}

/** The configuration before the call's turn; undefined when too many calls have theirs already. */
async function earlyConfig(call: Call, held: DisposableStack, ports: Ports): Promise<JsonText | undefined> {
  const room = ports.earlyConfigs.take(call.header.configLength);
  if (room === undefined) return undefined;
  held.use(room);
  return await call.config();
}

/**
 * Once the configuration is here: annotations that the runtime sent with it are kubelet's own, so they win over a view
 * that is older or newer.
 */
export async function lookAgain(
  call: Call,
  request: AddRequest,
  found: { readonly wanted: PodRequest; readonly config: JsonText },
  ports: Ports,
): Promise<PodRequest> {
  const { wanted, config } = found;
  const annotations = wanted.pod === undefined ? undefined : runtimeAnnotations(config);
  if (wanted.pod === undefined || annotations === undefined) return wanted;
  if (sameSelection(wanted.pod.annotations, annotations)) return wanted;
  ports.timeline.note(subjectOfCall(request), "found", {
    detail: "the annotations that came with the call differ from the local copy's, and are used",
  });
  using limit = networksLimit(call, ports.clock.monotonicMs() + ports.config.addLookupMs, ports);
  const pod: PodFacts = { ...wanted.pod, annotations };
  return await networksWanted(pod, networksOf(call, limit, ports), ports);
}

/** The configuration of each network. One that the node's own configuration names may have to be read live as well. */
export async function resolve(call: Call, wanted: PodRequest, conf: NetConf, ports: Ports): Promise<PodNetworks> {
  using limit = networksLimit(call, ports.clock.monotonicMs() + ports.config.addLookupMs, ports);
  const view = networksOf(call, limit, ports);
  try {
    return await resolveNetworks(wanted, conf, { confs: ports.confs, view });
  } catch (thrown) {
    if (wanted.pod !== undefined) announceMissing(wanted.pod, thrown, ports);
    throw thrown;
  }
}

async function networksWanted(pod: PodFacts | undefined, view: NetworkView, ports: Ports): Promise<PodRequest> {
  try {
    return await requestOf(pod, view);
  } catch (thrown) {
    if (pod !== undefined) announceMissing(pod, thrown, ports);
    throw thrown;
  }
}

/** Multus' event, for whoever looks at the pod. */
function announceMissing(pod: PodFacts, thrown: unknown, { announcer }: Pick<Ports, "announcer">): void {
  if (!(thrown instanceof LeveeError) || thrown.code !== "network-unknown") return;
  announcer.aboutPod(pod, { type: "Warning", reason: "NoNetworkFound", message: thrown.message });
}

function networksOf(call: Call, limit: Deadline | undefined, { view, clock }: Ports): NetworkView {
  return liveNetworks(view, clock, limit?.signal ?? call.signal);
}

/** What is left of the lookup's time is the networks'. Where nobody is asked, there is nothing to limit. */
function networksLimit(call: Call, endsMs: number, { view, clock, config }: Ports): Deadline | undefined {
  if (view.live === undefined) return undefined;
  const late = (): LeveeError =>
    new LeveeError("try-later", `Cannot look up the pod's networks within ${config.addLookupMs} ms`);
  // At least one question is worth a moment, also when the pod has used up all the time.
  return deadline(clock, Math.max(endsMs - clock.monotonicMs(), 500), late, call.signal);
}
