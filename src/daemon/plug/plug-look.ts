import { sameNetns } from "../../base/identity.ts";
import { toLeveeError, type LeveeError } from "../../base/errors.ts";
import type { GivenUp } from "../../base/given-up.ts";
import type { Logger } from "../../base/log.ts";
import { changeWords, failedChangeText, unchangedText } from "../../attachment/change-words.ts";
import type { NetworkChange } from "../../attachment/network-changes.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { View } from "../../view/view.ts";
import { subjectOf } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Turns } from "../serve/turns.ts";
import type { Afterwork } from "../tell/afterwork.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import { lookAtNetns, type NetnsNow } from "../undo/netns-to-pass.ts";
import type { Residents } from "../undo/residents.ts";
import type { Suspects } from "../undo/suspects.ts";
import { budgetKeyOf } from "./budget-key.ts";
import { PlugBudget, type PlugBudgetNeeds } from "./plug-budget.ts";
import { PlugChains, type PlugChainsNeeds } from "./plug-chains.ts";
import { PlugOperation, type PlugOperationNeeds } from "./plug-operation.ts";
import { planJoining, type PlugAim, type PlugPlanNeeds } from "./plug-plan.ts";
import type { PlugWork } from "./plug-work.ts";
import { isSilent, keepsNetns, ownRecord, wantedChanges } from "./wanted-networks.ts";

export interface PlugLookNeeds
  extends PlugPlanNeeds, Omit<PlugChainsNeeds, "admission">, Omit<PlugOperationNeeds, "chains">, PlugBudgetNeeds {
  readonly bootId: string;
  readonly config: DaemonConfig;
  readonly logger: Logger;
  readonly journal: Journal;
  readonly turns: Pick<Turns, "take">;
  readonly timeline: Timeline;
  readonly view: View;
  readonly residents: Pick<Residents, "hand" | "all">;
  readonly suspects: Pick<Suspects, "proveGone">;
  readonly afterwork: Pick<Afterwork, "changed">;
  readonly eventTeller: EventTeller;
}

/** The pod that is looked at, and what earlier looks learned. */
export interface PlugSubject {
  readonly token: string;
  readonly givenUp: GivenUp;
  /** How often a change of this pod has failed since it last succeeded. */
  attempts: number;
  /** Since when the annotation is missing, on the monotonic clock. */
  silentSinceMs: number | undefined;
  /** Why the last look failed before its changes. */
  failure: LeveeError | undefined;
  /** Changes that failed, each by its words. */
  readonly failures: Map<string, FailedChange>;
}

interface FailedChange {
  readonly error: LeveeError;
  /** Admission holds it by this key. */
  readonly key: string;
}

/** Nothing is to be done, or look again after some time, or once a hand joins. */
export type NextLook = { readonly afterMs: number; readonly needsHand?: true } | undefined;

/** Brings the networks of one running pod to what its annotation names. */
export class PlugLook {
  readonly #needs: PlugLookNeeds;
  readonly #operation: PlugOperation;
  readonly #budget: PlugBudget;

  constructor(needs: PlugLookNeeds) {
    this.#needs = needs;
    this.#operation = new PlugOperation({ ...needs, chains: new PlugChains(needs) });
    this.#budget = new PlugBudget(needs);
  }

  async look(subject: PlugSubject): Promise<NextLook> {
    const { journal, turns, residents, config } = this.#needs;
    const hand = residents.hand();
    if (hand === undefined) return { afterMs: config.undoRetryMs, needsHand: true };
    const seen = journal.findByToken(subject.token);
    if (seen === undefined) return undefined;
    // A DEL of the runtime cancels it as it cancels an ADD.
    const holder = { verb: "ADD", cancel: (reason: Error) => subject.givenUp.giveUp(reason) };
    // An ADD, a DEL and a change of one container wait for each other.
    using _turn = await turns.take(seen.containerId, holder, subject.givenUp);
    const record = journal.findByToken(subject.token);
    if (record === undefined || record.delAttempts > 0) return undefined;
    if (record.phase !== "acknowledged") return { afterMs: soonMs };
    const now = await lookAtNetns(hand, record.netns.path);
    // A namespace that is gone, or that is another one by now, is left to DEL and to the garbage collection.
    if (!isNetnsOf(record, now, this.#needs.bootId)) return undefined;
    const work = { token: record.token, hand, now, givenUp: subject.givenUp, attempts: subject.attempts };
    if (record.plug !== undefined) await this.#recover(work, record);
    return await this.#changeAll(work, subject);
  }

  async #recover(work: Omit<PlugWork, "reports">, record: AttachmentRecord): Promise<void> {
    await this.#needs.suspects.proveGone(work.hand, record);
    using permit = await this.#budget.admitRest(record, work);
    await this.#operation.recover({ ...work, reports: this.#budget.reportsOf(permit) });
    await this.#changed(record);
  }

  /** Tries every change, also behind one that failed. */
  async #changeAll(work: Omit<PlugWork, "reports">, subject: PlugSubject): Promise<NextLook> {
    const record = this.#needs.journal.findByToken(work.token);
    const pod = record === undefined ? undefined : await this.#podOf(record);
    if (record === undefined || pod === undefined) return undefined;
    const changes = this.#wanted(pod, record);
    const waitMs = isSilent(pod) && changes.length > 0 ? this.#waitForWord(record, subject) : 0;
    if (waitMs > 0) return { afterMs: waitMs };
    const { failures } = subject;
    subject.failure = undefined;
    for (const words of failures.keys())
      if (!changes.some((change) => changeWords(change) === words)) failures.delete(words);
    await this.#carryOut(work, { pod, record, failures }, changes);
    return undefined;
  }

  async #carryOut(
    work: Omit<PlugWork, "reports">,
    { pod, record, failures }: Pick<PlugSubject, "failures"> & Pick<PlugAim, "pod" | "record">,
    changes: readonly NetworkChange[],
  ): Promise<void> {
    let failure: LeveeError | undefined;
    for (const change of changes) {
      work.givenUp.throwIfAborted();
      try {
        await this.#changeOne(work, pod, change);
        failures.delete(changeWords(change));
      } catch (thrown) {
        if (work.hand.isLost || work.givenUp.aborted) throw thrown;
        const error = toLeveeError(thrown, "Cannot change the pod's networks");
        failures.set(changeWords(change), { error, key: budgetKeyOf(record, change) });
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  #wanted(pod: PodFacts, record: AttachmentRecord): readonly NetworkChange[] {
    try {
      return wantedChanges(pod, record, this.#needs.config);
    } catch (thrown) {
      const { message } = toLeveeError(thrown, "Cannot read the annotation");
      this.#needs.timeline.note(subjectOf(record, "PLUG"), "failed", { detail: message });
      const notice = { type: "Warning", reason: "FailedAddingInterface" } as const;
      this.#needs.eventTeller.aboutPod(pod, { ...notice, message: unchangedText(message) });
      throw thrown;
    }
  }

  /** For how much longer; a controller that replaces the object may lose the annotation for a moment. */
  #waitForWord(record: AttachmentRecord, subject: PlugSubject): number {
    const { clock, config, timeline } = this.#needs;
    const nowMs = clock.monotonicMs();
    if (subject.silentSinceMs === undefined)
      timeline.note(subjectOf(record, "PLUG"), "waiting", {
        detail: `the annotation is gone: its networks stay until it has been missing for ${config.gcGraceMs} ms; [] takes them away at once`,
      });
    subject.silentSinceMs ??= nowMs;
    return subject.silentSinceMs + config.gcGraceMs - nowMs;
  }

  async #changeOne(work: Omit<PlugWork, "reports">, pod: PodFacts, change: NetworkChange): Promise<void> {
    const { journal, timeline } = this.#needs;
    const before = journal.findByToken(work.token);
    if (before === undefined) return;
    const about = subjectOf(before, "PLUG");
    timeline.note(about, "asked", { detail: changeWords(change) });
    try {
      using permit = await this.#budget.admit(before, pod, change, work);
      const reports = this.#budget.reportsOf(permit, pod);
      const joining = await reports.watch(this.#plan(work, { pod, record: before }, change));
      await this.#operation.change({ ...work, reports }, change.leaving, joining);
      reports.succeeded();
      timeline.note(about, change.joining === undefined ? "unplugged" : "plugged", { detail: changeWords(change) });
      await this.#changed(before);
    } catch (thrown) {
      const error = toLeveeError(thrown, "Cannot change the pod's networks");
      timeline.note(about, "failed", { detail: error.message });
      if (!work.givenUp.aborted && !work.hand.isLost) this.#tellFailure(pod, change, error);
      await this.#changed(before);
      throw error;
    }
  }

  async #plan(
    { hand, givenUp }: { readonly hand: Hand; readonly givenUp: GivenUp },
    { pod, record }: { readonly pod: PodFacts; readonly record: AttachmentRecord },
    change: NetworkChange,
  ): Promise<Awaited<ReturnType<typeof planJoining>>[]> {
    if (change.joining === undefined) return [];
    const note = (detail: string): void => this.#needs.timeline.note(subjectOf(record, "PLUG"), "found", { detail });
    return [await planJoining({ pod, record, hand, signal: givenUp.signal, note }, change, this.#needs)];
  }

  /** Tells the new networks once they are in the journal; nothing when they are the old ones. */
  async #changed(before: AttachmentRecord): Promise<void> {
    const now = this.#needs.journal.findByToken(before.token);
    if (now === undefined || now.plug !== undefined || now.results === before.results) return;
    await this.#needs.afterwork.changed(before, now);
  }

  #tellFailure(pod: PodFacts, change: NetworkChange, { message }: LeveeError): void {
    const reason = change.joining === undefined ? "FailedRemovingInterface" : "FailedAddingInterface";
    this.#needs.eventTeller.aboutPod(pod, { type: "Warning", reason, message: failedChangeText(change, message) });
  }

  /** The record's pod while its networks may change. */
  async #podOf(record: AttachmentRecord): Promise<PodFacts | undefined> {
    if (!this.#needs.config.hotPlug) return undefined;
    const { namespace, name } = record.pod;
    const pod = await this.#needs.view.findPod(namespace, name);
    return pod !== undefined && ownRecord(pod, [record]) !== undefined && keepsNetns(pod) ? pod : undefined;
  }
}

/** An ADD whose result the runtime has not taken yet. */
const soonMs = 250;

/**
 * Multus keeps the path of a namespace alone. Runtimes make each of those below `netns` a name that comes once; the path of
 * a process may be another one's by now.
 */
function isNetnsOf({ origin, bootId, netns }: AttachmentRecord, now: NetnsNow, thisBoot: string): boolean {
  if (origin === "multus" && netns.identity === undefined)
    return now.identity !== undefined && netns.path.includes("/netns/");
  return bootId === thisBoot && sameNetns(netns.identity, now.identity);
}
