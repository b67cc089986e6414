import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { GivenUp } from "../../base/given-up.ts";
import type { Logger } from "../../base/log.ts";
import { changeWords } from "../../attachment/change-words.ts";
import type { NetworkChange } from "../../attachment/network-changes.ts";
import { networksAnnotation, networkStatusAnnotation } from "../../base/annotations.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { PodChange, PodFacts } from "../../view/pod-facts.ts";
import type { View } from "../../view/view.ts";
import type { Service } from "../service.ts";
import type { Residents } from "../undo/residents.ts";
import type { NextLook, PlugLook, PlugSubject } from "./plug-look.ts";
import { PlugQueue } from "./plug-queue.ts";
import { isStatusStale } from "./stale-status.ts";
import { isSilent, keepsNetns, ownRecord, wantedChanges } from "./wanted-networks.ts";

export interface PlugWatchNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all" | "findByToken" | "forPod">;
  readonly view: View;
  readonly residents: Pick<Residents, "onJoined">;
  /** Loaded with the first change: most nodes never have one. */
  readonly load: () => Promise<Pick<PlugLook, "look">>;
  /** How long admission holds what failed under this key. */
  readonly heldMs: (key: string) => number;
  /** Tells a pod's networks again. */
  readonly tell: (token: string) => void;
}

/** The first pause after a failure that admission does not hold; it doubles. */
const firstPauseMs = 1_000;
const pauseMsMax = 60_000;

/**
 * Looks at the pods of this node whose annotation changed, and has each brought to what it asks for. The journal says
 * what a pod has: its network-status may be older, or of another writer.
 */
export class PlugWatch implements Service {
  readonly #needs: PlugWatchNeeds;
  readonly #queue: PlugQueue;
  readonly #subjects = new Map<string, PlugSubject>();
  /** Tokens whose look found no hand. */
  readonly #handless = new Set<string>();
  #stopListening = (): void => undefined;
  #look: Promise<Pick<PlugLook, "look">> | undefined;

  constructor(needs: PlugWatchNeeds) {
    this.#needs = needs;
    this.#queue = new PlugQueue({
      clock: needs.clock,
      namespaceOf: (token) => needs.journal.findByToken(token)?.pod.namespace ?? "",
      serve: (token) => this.#serve(token),
    });
  }

  /** Also the rest of changes that the last daemon left is done, even where `hotPlug` is off by now. */
  start(): this {
    const { config, journal, view, residents } = this.#needs;
    residents.onJoined(() => this.#handJoined());
    for (const { token, plug } of journal.all()) if (plug !== undefined) this.#queue.put(token);
    if (!config.hotPlug || view.onPodChange === undefined) return this;
    this.#stopListening = view.onPodChange((change) => this.#podChanged(change));
    void (view.live?.podsSynced() ?? Promise.resolve()).then(() => {
      for (const pod of view.pods() ?? []) this.#consider(pod, true);
    });
    return this;
  }

  /** Why this change of the attachment failed, until it succeeds or the annotation changes. */
  failureOf(token: string, change: NetworkChange | undefined): LeveeError | undefined {
    const subject = this.#subjects.get(token);
    return (change && subject?.failures.get(changeWords(change))?.error) ?? subject?.failure;
  }

  /** Resolves when no change is under way. One that loses its hand meanwhile is taken back by the next daemon. */
  async stop(): Promise<void> {
    this.#stopListening();
    await this.#queue.stop();
  }

  #handJoined(): void {
    const tokens = [...this.#handless];
    this.#handless.clear();
    for (const token of tokens) this.#queue.put(token);
  }

  #podChanged({ before, now }: PodChange): void {
    if (now === undefined || !keepsNetns(now)) {
      if (before !== undefined) this.#drop(before);
      return;
    }
    const isSame = before?.annotations[networksAnnotation] === now.annotations[networksAnnotation];
    // A pod that begins to run may have been attached by an older annotation than this.
    if (isSame && before?.phase === now.phase && before?.uid === now.uid) return this.#correctStatus(before, now);
    this.#consider(now, false);
  }

  /** A controller that goes on during a move writes network-status from its own copy of the pod, which may be late. */
  #correctStatus(before: PodFacts, now: PodFacts): void {
    const { config, journal, tell } = this.#needs;
    const isWritten = before.annotations[networkStatusAnnotation] !== now.annotations[networkStatusAnnotation];
    if (config.multusSocketDir === undefined || !isWritten) return;
    const record = ownRecord(now, journal.forPod(now.namespace, now.name));
    if (record !== undefined && record.plug === undefined && isStatusStale(now, record)) tell(record.token);
  }

  /** Whether there is something to do is found in memory, in microseconds. */
  #consider(pod: PodFacts, isFirst: boolean): void {
    const { journal, config, tell } = this.#needs;
    const record = keepsNetns(pod) ? ownRecord(pod, journal.forPod(pod.namespace, pod.name)) : undefined;
    if (record === undefined) return;
    // The last daemon may have died between a change and the status. The next change may fail and tell nothing.
    if (isFirst && record.plug === undefined && isStatusStale(pod, record)) tell(record.token);
    const subject = this.#subjects.get(record.token);
    hear(subject, pod);
    if (record.plug === undefined && !hasChanges(pod, record, config)) return;
    beginAnew(subject);
    this.#queue.put(record.token);
  }

  /** The pod ends: its DEL removes what a change has left. */
  #drop(pod: PodFacts): void {
    for (const { token } of this.#needs.journal.forPod(pod.namespace, pod.name)) {
      this.#queue.drop(token);
      this.#handless.delete(token);
      this.#subjects.get(token)?.givenUp.giveUp(new LeveeError("cancelled", "The pod ends"));
      // One that waits for its next look is not served again. If the pod comes back, it begins anew.
      this.#subjects.delete(token);
    }
  }

  /** Never rejects. Resolves to the pause before the next look, if there is to be one. */
  async #serve(token: string): Promise<number | undefined> {
    const subject = this.#subjects.get(token) ?? {
      token,
      givenUp: new GivenUp(),
      attempts: 0,
      silentSinceMs: undefined,
      failure: undefined,
      failures: new Map(),
    };
    this.#subjects.set(token, subject);
    let next: NextLook;
    try {
      const look = await (this.#look ??= this.#needs.load());
      next = await look.look(subject);
      beginAnew(subject);
    } catch (thrown) {
      next = this.#failed(subject, toLeveeError(thrown, "Cannot change the networks of a pod"));
    }
    if (next === undefined || subject.givenUp.aborted) this.#subjects.delete(token);
    else if (next.needsHand === true) this.#handless.add(token);
    return subject.givenUp.aborted ? undefined : next?.afterMs;
  }

  #failed(subject: PlugSubject, error: LeveeError): NextLook {
    const { journal, logger, heldMs } = this.#needs;
    const record = journal.findByToken(subject.token);
    if (record === undefined) return undefined;
    const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** Math.min(subject.attempts, 10));
    const failed = [...subject.failures.values()];
    // The first one that may try again.
    const changeHeldMs = failed.length === 0 ? 0 : Math.min(...failed.map(({ key }) => heldMs(key)));
    const afterMs = Math.max(pauseMs, changeHeldMs);
    subject.attempts += 1;
    subject.failure = failed.some((one) => one.error === error) ? undefined : error;
    logger.warn("The networks of a running pod could not be changed and will be tried again", {
      pod: `${record.pod.namespace}/${record.pod.name}`,
      afterMs: Math.round(afterMs),
      reason: error.message,
    });
    return { afterMs };
  }
}

/** An annotation that comes back and goes again is missing from then on. */
function hear(subject: PlugSubject | undefined, pod: PodFacts): void {
  if (subject !== undefined && !isSilent(pod)) subject.silentSinceMs = undefined;
}

function beginAnew(subject: PlugSubject | undefined): void {
  if (subject === undefined) return;
  Object.assign(subject, { attempts: 0, failure: undefined });
  subject.failures.clear();
}

/** An annotation that cannot be read is looked at, so that the pod hears of it. */
function hasChanges(pod: PodFacts, record: AttachmentRecord, config: DaemonConfig): boolean {
  try {
    return wantedChanges(pod, record, config).length > 0;
  } catch {
    // The look tells the pod what is wrong with it.
    return true;
  }
}
