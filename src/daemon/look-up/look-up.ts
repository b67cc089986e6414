import type { JsonText } from "../../base/brand.ts";
import { deadline, type Clock, type Deadline } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { CniArgs } from "../../cni/cni-args.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { View } from "../../view/view.ts";
import { subjectOfCall } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import type { ConfCache } from "./conf-cache.ts";
import { withDevices } from "./devices.ts";
import { EarlyConfigs } from "./early-configs.ts";
import { findPod } from "./find-pod.ts";
import { liveNetworks } from "./live-networks.ts";
import { needsDevices, resolveNetworks, type PodNetworks } from "./networks.ts";
import { requestOf, type NetworkLookup, type PodRequest } from "./pod-request.ts";
import { awaitReadinessFile } from "./readiness-file.ts";
import { runtimeAnnotations, sameSelection } from "./runtime-annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface LookUpNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addLookupMs" | "readinessindicatorfile" | "directory" | "kubeletDir">;
  readonly view: View;
  readonly confs: ConfCache;
  readonly timeline: Timeline;
  readonly eventTeller: Pick<EventTeller, "aboutPod">;
}

/** The call that an answer is looked up for. */
export interface LookUpCaller {
  readonly header: { readonly configLength: number };
  readonly signal: AbortSignal;
  config(): Promise<JsonText>;
}

interface LookUpRequest {
  readonly verb: string;
  readonly containerId: string;
  readonly args: CniArgs;
}

/** A pod's request, as it was found before the line. */
export interface Found extends PodRequest {
  /** When the default network must be ready at last. */
  readonly readyByMs: number;
}

/** Everything the plan needs to know about a pod's networks. */
export interface FoundNetworks {
  readonly wanted: PodRequest;
  readonly networks: PodNetworks;
}

/**
 * Finds the pod and its networks, once before the line and once behind it: without a slot as much as the local copy
 * knows, with one as much as the call's own configuration adds.
 */
export class LookUp {
  readonly #needs: LookUpNeeds;
  readonly #earlyConfigs = new EarlyConfigs();

  constructor(needs: LookUpNeeds) {
    this.#needs = needs;
  }

  /** The pod and the networks it names. Before a slot is taken: a slow or absent API server holds up no other call. */
  async beforeLine(call: LookUpCaller, request: LookUpRequest, held: DisposableStack): Promise<Found> {
    const { clock, config } = this.#needs;
    const readyByMs = clock.monotonicMs() + config.addLookupMs;
    const [found] = await Promise.all([
      this.#findRequest(call, request, held),
      awaitReadinessFile({ path: config.readinessindicatorfile, endsMs: readyByMs, caller: call }, clock),
    ]);
    return { pod: found.pod, elements: found.elements, definitions: found.definitions, readyByMs };
  }

  /** What the pod asks for by the call's own configuration, and the configuration and device of each network. */
  async behindLine(call: LookUpCaller, request: LookUpRequest, found: Found, conf: NetConf): Promise<FoundNetworks> {
    const { clock, config, confs } = this.#needs;
    // The daemon's own file was waited for before the line; only a conf that names one is waited for here.
    if (config.readinessindicatorfile === "")
      await awaitReadinessFile({ path: conf.readinessindicatorfile, endsMs: found.readyByMs, caller: call }, clock);
    const wanted = await this.#withAnnotations(call, request, found);
    using limit = this.#limit(call);
    const sources = { confs, view: this.#live(limit) };
    const networks = await this.#telling(wanted.pod, resolveNetworks(wanted, conf, sources));
    if (wanted.pod === undefined || !needsDevices(networks)) return { wanted, networks };
    const { kubeletDir, addLookupMs: limitMs } = config;
    const options = { kubeletDir, clock, limitMs, signal: call.signal };
    return { wanted, networks: await withDevices(networks, wanted.pod, options) };
  }

  /** Annotations that come with the configuration are kubelet's own: they win over a copy that is older or newer. */
  async #withAnnotations(call: LookUpCaller, request: LookUpRequest, found: PodRequest): Promise<PodRequest> {
    const { pod } = found;
    const annotations = pod === undefined ? undefined : runtimeAnnotations(await call.config());
    if (pod === undefined || annotations === undefined || sameSelection(pod.annotations, annotations)) return found;
    this.#needs.timeline.note(subjectOfCall(request), "found", {
      detail: "the annotations that came with the call differ from the local copy's, and are used",
    });
    using limit = this.#limit(call);
    return await this.#request({ ...pod, annotations }, limit);
  }

  async #findRequest(call: LookUpCaller, request: LookUpRequest, held: DisposableStack): Promise<PodRequest> {
    const { clock, config, timeline } = this.#needs;
    const endsMs = clock.monotonicMs() + config.addLookupMs;
    const { pod, how } = await findPod(
      { args: request.args, config: () => this.#earlyConfig(call, held), endsMs, caller: call },
      this.#needs,
    );
    if (how !== undefined) timeline.note(subjectOfCall(request), "found", { detail: how });
    using limit = this.#limit(call, endsMs);
    return await this.#request(pod, limit);
  }

  /** The configuration before the call's turn; undefined when too many calls have theirs already. */
  async #earlyConfig(call: LookUpCaller, held: DisposableStack): Promise<JsonText | undefined> {
    const room = this.#earlyConfigs.take(call.header.configLength);
    if (room === undefined) return undefined;
    held.use(room);
    return await call.config();
  }

  #request(pod: PodFacts | undefined, limit: NetworksLimit): Promise<PodRequest> {
    return this.#telling(pod, requestOf(pod, this.#live(limit)));
  }

  /** Tells Multus' event for a network that is not there, so that it stands on the pod. */
  async #telling<T>(pod: PodFacts | undefined, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      if (pod !== undefined && thrown instanceof LeveeError && thrown.code === "network-unknown")
        this.#needs.eventTeller.aboutPod(pod, { type: "Warning", reason: "NoNetworkFound", message: thrown.message });
      throw thrown;
    }
  }

  #live(limit: NetworksLimit): NetworkLookup {
    return liveNetworks(this.#needs.view, this.#needs.clock, limit);
  }

  #limit(call: LookUpCaller, endsMs?: number): NetworksLimit {
    const { clock, config } = this.#needs;
    return new NetworksLimit(call, endsMs ?? clock.monotonicMs() + config.addLookupMs, this.#needs);
  }
}

/** The rest of the look-up's time, for the networks. The timer starts when the server is asked, which is rare. */
class NetworksLimit implements Disposable {
  readonly #call: LookUpCaller;
  readonly #endsMs: number;
  readonly #needs: Pick<LookUpNeeds, "clock" | "config">;
  #limit: Deadline | undefined;

  constructor(call: LookUpCaller, endsMs: number, needs: Pick<LookUpNeeds, "clock" | "config">) {
    this.#call = call;
    this.#endsMs = endsMs;
    this.#needs = needs;
  }

  get signal(): AbortSignal {
    return (this.#limit ??= this.#start()).signal;
  }

  [Symbol.dispose](): void {
    this.#limit?.[Symbol.dispose]();
  }

  #start(): Deadline {
    const { clock, config } = this.#needs;
    const late = (): LeveeError =>
      new LeveeError("try-later", `Cannot look up the pod's networks within ${config.addLookupMs} ms`);
    // One question is worth a moment, even when the pod has used up all the time.
    return deadline(clock, Math.max(this.#endsMs - clock.monotonicMs(), 500), late, this.#call.signal);
  }
}
