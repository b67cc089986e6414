import { toLeveeError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { View } from "../../view/view.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { hasUid } from "../look-up/find-pod.ts";
import { needsDevices, resolveNetworks, type PodNetworks } from "../look-up/networks.ts";
import { requestOf } from "../look-up/pod-request.ts";
import { podOfRuntime, runtimeAnnotations } from "../look-up/runtime-annotations.ts";
import { recordedPod } from "../record/subject.ts";
import type { LostContainer } from "./lost-container.ts";

export interface RebuildNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly view: View;
  readonly confs: ConfCache;
}

/** A record that was worked out again, and why it may lack networks; empty when it has them all. */
export interface Rebuilt {
  readonly record: AttachmentRecord;
  readonly lack: string;
}

/**
 * Plans a container's attachments again as ADD would today, as Multus does for a DEL without its cache. The default
 * network needs only the call's configuration. The others need the pod, from the view or from the annotations that came
 * with the call: a DEL never asks the API server.
 */
export class RebuildRecord {
  readonly #needs: RebuildNeeds;

  constructor(needs: RebuildNeeds) {
    this.#needs = needs;
  }

  async rebuild(container: LostContainer): Promise<Rebuilt> {
    const conf = effectiveNetConf(await container.config(), this.#needs.config);
    const { name } = podArgs(container.args);
    const pod = await this.#pod(container);
    const isGone = name !== undefined && pod === undefined;
    try {
      const lack = isGone ? "its pod is gone, so only its default network is known" : "";
      return { record: recordFor(container, await this.#plan(container, conf, pod), conf), lack };
    } catch (thrown) {
      if (pod === undefined) throw thrown;
      const reason = toLeveeError(thrown, "Planning").message;
      const lack = `only its default network could be worked out: ${reason}`;
      return { record: recordFor(container, await this.#plan(container, conf, undefined), conf), lack };
    }
  }

  async #plan(container: LostContainer, conf: NetConf, pod: PodFacts | undefined): Promise<readonly Chain[]> {
    const { config, view, confs } = this.#needs;
    const networks = await resolveNetworks(await requestOf(pod, view), conf, { view, confs });
    const { deviceInfoDir } = config;
    return planAttachments({
      request: container,
      ...(await this.#equipped(networks, pod)),
      runtimeConfig: conf.runtimeConfig,
      deviceInfoDir,
    });
  }

  /** The kubelet may have freed the pod's devices already. Then their plugins get none, as with Multus. */
  async #equipped(networks: PodNetworks, pod: PodFacts | undefined): Promise<PodNetworks> {
    if (pod === undefined || !needsDevices(networks)) return networks;
    const { clock, config } = this.#needs;
    const { kubeletDir, addLookupMs: limitMs } = config;
    const signal = new AbortController().signal;
    // Few nodes have devices, so the code for them is loaded late.
    const { withDevices } = await import("../look-up/devices.ts");
    return await withDevices(networks, pod, { kubeletDir, clock, limitMs, signal }).catch(() => networks);
  }

  async #pod({ args, config }: LostContainer): Promise<PodFacts | undefined> {
    const { namespace, name, ...rest } = podArgs(args);
    if (namespace === undefined || name === undefined) return undefined;
    await this.#untilSynced();
    const found = await this.#needs.view.findPod(namespace, name);
    const annotations = runtimeAnnotations(await config());
    if (found !== undefined && hasUid(found, rest.uid))
      return annotations === undefined ? found : { ...found, annotations };
    return annotations === undefined ? undefined : podOfRuntime({ ...rest, namespace, name }, annotations);
  }

  /** Before the first list is complete, a missing pod proves nothing. The DEL waits a little, for the list only. */
  async #untilSynced(): Promise<void> {
    const { view, clock, config } = this.#needs;
    if (view.live === undefined || view.live.isSynced()) return;
    const listed = new AbortController();
    const patience = clock.sleep(config.addLookupMs, listed.signal).catch(() => undefined);
    await Promise.race([view.live.podsSynced(), patience]);
    listed.abort();
  }
}

function recordFor(container: LostContainer, chains: readonly Chain[], conf: NetConf): AttachmentRecord {
  return {
    token: "",
    containerId: container.containerId,
    ifname: container.ifname,
    netns: { path: container.now.path, identity: undefined },
    bootId: "",
    pod: recordedPod(container.args),
    cniPath: container.cniPath,
    cniVersion: conf.cniVersion,
    hand: undefined,
    startedWallMs: 0,
    chains,
    phase: "acknowledged",
    steps: new Map(),
    // The runtime gives back the result of its ADD, which is the default network's.
    results: [conf.prevResult],
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}
