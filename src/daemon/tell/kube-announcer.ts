import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { EventRecorder } from "../../kube/outbox/event-recorder.ts";
import type { Fate } from "../../kube/outbox/letter.ts";
import { Outbox, type OutboxHealth } from "../../kube/outbox/outbox.ts";
import { judgeEvent } from "../../kube/outbox/outbox-verdict.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import type { Announcer, NetworkRef, Notice, PodRef } from "./announcer.ts";

/** Some events for each pod of a full node; what comes after that says no more. */
const eventsMax = 1_000;
/** Events are the least urgent of what a node says. */
const atOnceMax = 2;
/** The answer of the ADD that they are about, and the pod's annotation, are out by then. */
const lingerMs = 250;
/**
 * A storm of 250 pods with two interfaces each is told within two minutes. An event takes 2 ms of CPU: at twenty a second
 * they took as much of a daemon with a tenth of a core as the attachments themselves.
 */
const nodePace = { burst: 20, refillMs: 200 };
/** Tools look for Multus' events by the component's name, so the name stays. */
const component = "multus";

export interface KubeAnnouncerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly onOutcome: (outcome: Fate | "suppressed") => void;
}

/** Tells the cluster by core/v1 Events. */
export class KubeAnnouncer implements Announcer {
  readonly #nodeName: string;
  readonly #outbox: Outbox;
  readonly #recorder: EventRecorder;

  constructor({ api, clock, logger, nodeName, onOutcome }: KubeAnnouncerOptions) {
    this.#nodeName = nodeName;
    this.#outbox = new Outbox({
      what: "event",
      clock,
      logger,
      judge: judgeEvent,
      lettersMax: eventsMax,
      atOnceMax,
      pace: new TokenBucket(clock, nodePace),
      lingerMs,
      onFate: onOutcome,
    });
    this.#recorder = new EventRecorder({
      api,
      clock,
      source: { component, host: nodeName },
      outbox: this.#outbox,
      onSuppressed: () => onOutcome("suppressed"),
    });
  }

  aboutPod({ namespace, name, uid }: PodRef, notice: Notice): void {
    this.#recorder.record({ apiVersion: "v1", kind: "Pod", namespace, name, uid }, notice);
  }

  /** Kubelet names itself by the node's name where a UID is asked for, and `kubectl describe node` looks for that. */
  aboutNode(notice: Notice): void {
    const name = this.#nodeName;
    this.#recorder.record({ apiVersion: "v1", kind: "Node", namespace: "", name, uid: name }, notice);
  }

  aboutNetwork({ namespace, name, uid }: NetworkRef, notice: Notice): void {
    const kind = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
    this.#recorder.record({ ...kind, namespace, name, uid }, notice);
  }

  health(): OutboxHealth {
    return this.#outbox.health();
  }

  close(): void {
    this.#outbox.close();
  }
}
