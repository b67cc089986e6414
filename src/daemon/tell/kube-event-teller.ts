import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { EventObject } from "../../kube/outbox/event-body.ts";
import { EventRecorder } from "../../kube/outbox/event-recorder.ts";
import type { Fate } from "../../kube/outbox/letter.ts";
import { Outbox, type OutboxHealth } from "../../kube/outbox/outbox.ts";
import { judgeEvent } from "../../kube/outbox/delivery-verdict.ts";
import { EventPace } from "./event-pace.ts";
import type { EventTeller, NetworkRef, Notice, PodRef } from "./event-teller.ts";

/** Some events for each pod of a full node. Further events add little. */
const eventsMax = 1_000;
/** Events are the least urgent requests of a node. */
const atOnceMax = 2;
/** The answer of the ADD and the pod's annotation go first. */
const lingerMs = 250;
/** Tools find Multus' events by this name, so the name stays. */
const component = "multus";

interface KubeEventTellerOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly onOutcome: (outcome: Fate | "suppressed") => void;
}

/** Tells the API server by core/v1 Events. */
export class KubeEventTeller implements EventTeller {
  readonly #nodeName: string;
  readonly #pace: EventPace;
  readonly #outbox: Outbox;
  readonly #recorder: EventRecorder;

  constructor({ api, clock, logger, nodeName, onOutcome }: KubeEventTellerOptions) {
    this.#nodeName = nodeName;
    this.#pace = new EventPace(clock);
    this.#outbox = new Outbox({
      what: "event",
      clock,
      logger,
      judge: judgeEvent,
      lettersMax: eventsMax,
      atOnceMax,
      pace: this.#pace,
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
    this.#record({ apiVersion: "v1", kind: "Pod", namespace, name, uid }, notice);
  }

  /** Kubelet uses the node's name as UID in its events, and `kubectl describe node` looks for that. */
  aboutNode(notice: Notice): void {
    const name = this.#nodeName;
    this.#record({ apiVersion: "v1", kind: "Node", namespace: "", name, uid: name }, notice);
  }

  aboutNetwork({ namespace, name, uid }: NetworkRef, notice: Notice): void {
    const kind = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
    this.#record({ ...kind, namespace, name, uid }, notice);
  }

  health(): OutboxHealth {
    return this.#outbox.health();
  }

  close(): void {
    this.#outbox.close();
  }

  #record(about: EventObject, notice: Notice): void {
    this.#pace.came();
    this.#recorder.record(about, notice);
  }
}
