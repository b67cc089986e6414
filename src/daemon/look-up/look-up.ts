import type { JsonText } from "../../base/brand.ts";
import { deadline, type Deadline } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { Call } from "../serve/call.ts";
import { findPod } from "./find-pod.ts";
import type { Holdings } from "../serve/holdings.ts";
import { liveNetworks } from "./live-networks.ts";
import { requestOf, resolveNetworks, type NetworkView, type PodNetworks, type PodRequest } from "./networks.ts";
import type { Ports } from "../ports.ts";
import { runtimeAnnotations, sameSelection } from "./runtime-annotations.ts";
import { subjectOfCall } from "../record/subject.ts";
import type { PodFacts } from "../../view/view.ts";

/** The pod and its networks, found before the ADD gets a slot: a slow or absent API server holds nobody else up. */
export async function lookUp(call: Call, request: AddRequest, held: Holdings, ports: Ports): Promise<PodRequest> {
  const endsMs = ports.clock.monotonicMs() + ports.config.addLookupMs;
  const { pod, how } = await findPod(
    { args: request.args, config: () => earlyConfig(call, held, ports), endsMs, caller: call },
    ports,
  );
  if (how !== undefined) ports.timeline.note(subjectOfCall(request), "found", { detail: how });
  using limit = new NetworksLimit(call, endsMs, ports);
  return await networksWanted(pod, networksOf(limit, ports), ports);
}

/** The configuration before the call's turn; undefined when too many calls have theirs already. */
async function earlyConfig(call: Call, held: Holdings, ports: Ports): Promise<JsonText | undefined> {
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
  using limit = new NetworksLimit(call, ports.clock.monotonicMs() + ports.config.addLookupMs, ports);
  const pod: PodFacts = { ...wanted.pod, annotations };
  return await networksWanted(pod, networksOf(limit, ports), ports);
}

/** The configuration of each network. One that the node's own configuration names may have to be read live as well. */
export async function resolve(call: Call, wanted: PodRequest, conf: NetConf, ports: Ports): Promise<PodNetworks> {
  using limit = new NetworksLimit(call, ports.clock.monotonicMs() + ports.config.addLookupMs, ports);
  const view = networksOf(limit, ports);
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

function networksOf(limit: NetworksLimit, { view, clock }: Ports): NetworkView {
  return liveNetworks(view, clock, limit);
}

/** What is left of the lookup's time is the networks'. Made when the server is asked, which it seldom is. */
class NetworksLimit implements Disposable {
  readonly #call: Call;
  readonly #endsMs: number;
  readonly #ports: Ports;
  #limit: Deadline | undefined;

  constructor(call: Call, endsMs: number, ports: Ports) {
    this.#call = call;
    this.#endsMs = endsMs;
    this.#ports = ports;
  }

  get signal(): AbortSignal {
    return (this.#limit ??= this.#start()).signal;
  }

  [Symbol.dispose](): void {
    this.#limit?.[Symbol.dispose]();
  }

  #start(): Deadline {
    const { clock, config } = this.#ports;
    const late = (): LeveeError =>
      new LeveeError("try-later", `Cannot look up the pod's networks within ${config.addLookupMs} ms`);
    // At least one question is worth a moment, also when the pod has used up all the time.
    return deadline(clock, Math.max(this.#endsMs - clock.monotonicMs(), 500), late, this.#call.signal);
  }
}
