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

/** The call that needs the answer. */
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

/** The pod's request, as found before the line. */
export interface Found extends PodRequest {
  /** Until when to wait for the default network, on the monotonic clock. */
  readonly readyByMs: number;
}

/** All that the plan needs to know about a pod's networks. */
export interface FoundNetworks {
  readonly wanted: PodRequest;
  readonly networks: PodNetworks;
}

/**
 * Finds the pod and its networks in two parts. Before the line it uses the local copy, without a slot. Behind the line
 * it adds what the call's own configuration says.
 */
export class LookUp {
  readonly #needs: LookUpNeeds;
  readonly #earlyConfigs = new EarlyConfigs();

  constructor(needs: LookUpNeeds) {
    this.#needs = needs;
  }

  /** The pod and the networks it names. No slot is taken yet, so a slow or absent API server holds up no other call. */
  async beforeLine(call: LookUpCaller, request: LookUpRequest, held: DisposableStack): Promise<Found> {
    const { clock, config } = this.#needs;
    const readyByMs = clock.monotonicMs() + config.addLookupMs;
    const [found] = await Promise.all([
      this.#findRequest(call, request, held),
      awaitReadinessFile({ path: config.readinessindicatorfile, endsMs: readyByMs, caller: call }, clock),
    ]);
    return { pod: found.pod, elements: found.elements, definitions: found.definitions, readyByMs };
  }

  /** The request by the annotations in the call's configuration, and the configuration and device of each network. */
  async behindLine(call: LookUpCaller, request: LookUpRequest, found: Found, conf: NetConf): Promise<FoundNetworks> {
    const { clock, config, confs, timeline, view } = this.#needs;
    // `beforeLine` has waited for the daemon's own file. Only a file that the conf names is waited for here.
    if (config.readinessindicatorfile === "")
      await awaitReadinessFile({ path: conf.readinessindicatorfile, endsMs: found.readyByMs, caller: call }, clock);
    const wanted = await this.#withAnnotations(call, request, found);
    using limit = this.#limit(call);
    const sources = { confs, view: this.#live(limit) };
    const networks = await this.#telling(wanted.pod, resolveNetworks(wanted, conf, sources));
    if (wanted.pod === undefined || !needsDevices(networks)) return { wanted, networks };
    const { withDevices } = await import("./devices.ts");
    const note = (detail: string): void => timeline.note(subjectOfCall(request), "found", { detail });
    const options = { ...config, limitMs: config.addLookupMs, clock, signal: call.signal, live: view.live, note };
    return { wanted, networks: await withDevices(networks, wanted.pod, options) };
  }

  /** Annotations in the configuration are kubelet's own. They win over the local copy, which may be older or newer. */
  async #withAnnotations(call: LookUpCaller, request: LookUpRequest, found: PodRequest): Promise<PodRequest> {
    const { pod } = found;
    const annotations = pod === undefined ? undefined : runtimeAnnotations(await call.config());
    if (pod === undefined || annotations === undefined || sameSelection(pod.annotations, annotations)) return found;
    this.#needs.timeline.note(subjectOfCall(request), "found", {
      detail: "the annotations that came with the call differ from the local copy's and are used",
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

  /** The configuration before the call has a slot; undefined when too many calls hold theirs already. */
  async #earlyConfig(call: LookUpCaller, held: DisposableStack): Promise<JsonText | undefined> {
    const room = this.#earlyConfigs.take(call.header.configLength);
    if (room === undefined) return undefined;
    // The call may have ended meanwhile: then the stack is gone, and the room with it.
    if (held.disposed) room[Symbol.dispose]();
    else held.use(room);
    return await call.config();
  }

  #request(pod: PodFacts | undefined, limit: NetworksLimit): Promise<PodRequest> {
    return this.#telling(pod, requestOf(pod, this.#live(limit)));
  }

  /** Tells Multus' event about a network that does not exist, so that `kubectl describe pod` shows it. */
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

/** The rest of the look-up's time, for the networks. The timer starts only when the server is asked, which is rare. */
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
    // One request gets a moment, even when finding the pod took all the time.
    return deadline(clock, Math.max(this.#endsMs - clock.monotonicMs(), 500), late, this.#call.signal);
  }
}
