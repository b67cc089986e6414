import type { Namespace, NetnsPath, PodName, PodUid } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { importMultusCache } from "../../state/multus/multus-cache.ts";
import type { GcFinding } from "../../wire/node-view.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Turns } from "../serve/turns.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import { Looks } from "./looks.ts";
import type { Sight } from "./sight.ts";
import {
  interfacesGone,
  isRunning,
  networksAskedFor,
  notAttached,
  recordOfPod,
  withoutRecord,
  type MissingNetwork,
} from "./missing-networks.ts";
import type { View } from "../../view/view.ts";
import { networkStatusAnnotation } from "../../base/annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

interface MissingRound {
  readonly findings: readonly GcFinding[];
  readonly notes: readonly string[];
  readonly isPending: boolean;
}

interface PodWithoutRecord {
  readonly pod: PodFacts;
  readonly asked: readonly string[];
}

/** After a reboot the API server shows pods as running until the kubelet has recreated them, which takes time on a busy node. */
const restartMs = 600_000;

interface MissingNetworksNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "gcGraceMs" | "multusNamespace" | "cniDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all">;
  readonly turns: Pick<Turns, "isBusy">;
  readonly view: Pick<View, "pods">;
  readonly eventTeller: Pick<EventTeller, "aboutPod">;
}

/** Finds running pods that lack a network they asked for, and tells it after two looks. */
export class MissingNetworksWatch {
  readonly #needs: MissingNetworksNeeds;
  readonly #looks = new Looks();
  readonly #asked = new WeakMap<PodFacts, readonly string[]>();
  #missing: readonly MissingNetwork[] = [];
  /** The message of each pod's last Event. */
  #told: ReadonlyMap<string, string> = new Map();

  constructor(needs: MissingNetworksNeeds) {
    this.#needs = needs;
  }

  /** Those found at two looks. */
  get missing(): readonly MissingNetwork[] {
    return this.#missing;
  }

  async round(hand: Hand, sight: Sight): Promise<MissingRound> {
    const { view, clock, config } = this.#needs;
    const pods = view.pods();
    if (pods === undefined)
      return { findings: [], notes: ["The list of this node's pods is not complete yet"], isPending: false };
    const found = await this.#lookAt(hand, pods.filter(isRunning), sight);
    const nowMs = clock.monotonicMs();
    this.#looks.note(found.map(keyOf), nowMs);
    const graceMsOf = ({ wasThere }: MissingNetwork): number =>
      wasThere ? Math.max(restartMs, config.gcGraceMs) : config.gcGraceMs;
    this.#missing = found.filter((one) => (this.#looks.ageMs(keyOf(one), nowMs) ?? 0) >= graceMsOf(one));
    this.#tell();
    const canSeeLinks = hand.supports("links");
    return {
      findings: this.#missing.map(findingOf),
      notes: canSeeLinks ? [] : [`Interfaces of pods cannot be looked at: ${hand.identity.software} is too old`],
      isPending: found.length > this.#missing.length,
    };
  }

  async #lookAt(hand: Hand, pods: readonly PodFacts[], sight: Sight): Promise<readonly MissingNetwork[]> {
    const { journal, turns } = this.#needs;
    const byPod = Map.groupBy(journal.all(), ({ pod }) => nameOf(pod));
    const found: MissingNetwork[] = [];
    const unrecorded: PodWithoutRecord[] = [];
    for (const pod of pods) {
      const records = byPod.get(nameOf(pod)) ?? [];
      // A call or recovery works on the container and will report by itself.
      if (records.some(({ phase, containerId }) => phase !== "acknowledged" || turns.isBusy(containerId))) continue;
      const asked = this.#askedBy(pod);
      const record = recordOfPod(pod, records);
      if (record !== undefined) {
        found.push(...notAttached(pod, record, asked));
        if (sight.alive.has(record)) found.push(...(await this.#gone(hand, pod, record)));
      } else if (asked.length > 0) unrecorded.push({ pod, asked });
    }
    return [...found, ...(await this.#unattached(unrecorded))];
  }

  /** The view replaces a pod that changes, so what a pod asks for is read once and not in every round. */
  #askedBy(pod: PodFacts): readonly string[] {
    const asked = this.#asked.get(pod) ?? networksAskedFor(pod, this.#needs.config.multusNamespace);
    this.#asked.set(pod, asked);
    return asked;
  }

  async #gone(hand: Hand, pod: PodFacts, record: AttachmentRecord): Promise<readonly MissingNetwork[]> {
    if (!hand.supports("links")) return [];
    try {
      const links = await hand.links(record.netns.path as NetnsPath); // as it came with the call, and seen alive just now
      return links === undefined ? [] : interfacesGone(pod, record, links);
    } catch (thrown) {
      if (hand.isLost) throw thrown;
      this.#needs.logger.debug("The interfaces of a pod cannot be seen", {
        container: record.containerId,
        reason: toLeveeError(thrown, "Looking").message,
      });
      return [];
    }
  }

  /** Leaves out what Multus attached, before the migration or while both run. */
  async #unattached(unrecorded: readonly PodWithoutRecord[]): Promise<readonly MissingNetwork[]> {
    if (unrecorded.length === 0) return [];
    const { records, problems } = await importMultusCache(this.#needs.config.cniDir);
    const known = [...records, ...this.#needs.journal.all()];
    const byPod = Map.groupBy(records, ({ pod }) => nameOf(pod));
    // An attachment without a pod name may belong to any pod whose status names networks.
    const isVague = problems.length > 0 || known.some(({ pod }) => pod.name === "");
    return unrecorded
      .filter(({ pod }) => recordOfPod(pod, byPod.get(nameOf(pod)) ?? []) === undefined)
      .filter(({ pod }) => !(isVague && pod.annotations[networkStatusAnnotation] !== undefined))
      .flatMap(({ pod, asked }) => withoutRecord(pod, asked));
  }

  /** One Event per pod and change, since only a restart of the pod mends it. */
  #tell(): void {
    const byPod = Map.groupBy(this.#missing, ({ namespace, pod, uid }) => `${namespace}/${pod}/${uid}`);
    const told = new Map<string, string>();
    for (const [key, [first, ...rest]] of byPod) {
      if (first === undefined) continue;
      const message = [first, ...rest].map(({ network, why }) => `${network}: ${why}`).join("; ");
      told.set(key, message);
      if (this.#told.get(key) === message) continue;
      this.#needs.logger.warn("A running pod lacks a network it asked for", {
        pod: `${first.namespace}/${first.pod}`,
        reason: message,
      });
      this.#needs.eventTeller.aboutPod(
        // As they came from the view.
        { namespace: first.namespace as Namespace, name: first.pod as PodName, uid: first.uid as PodUid },
        { type: "Warning", reason: "NetworkMissing", message },
      );
    }
    this.#told = told;
  }
}

function nameOf(pod: { readonly namespace: string; readonly name: string }): string {
  return `${pod.namespace}/${pod.name}`;
}

function keyOf({ namespace, pod, uid, kind, network, ifname }: MissingNetwork): string {
  return [namespace, pod, uid, kind, network, ifname].join("/");
}

function findingOf(one: MissingNetwork): GcFinding {
  const { namespace, pod, containerId, network, ifname, why } = one;
  return { what: "pod", namespace, pod, containerId, network, ifname, address: "", why, action: "report", detail: "" };
}
