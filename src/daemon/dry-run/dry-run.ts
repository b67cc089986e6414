import type { Admission } from "../../admission/admission.ts";
import type { Permit } from "../../admission/permit.ts";
import type { ContainerId, JsonText, Namespace, NetnsPath, PodName, PodUid } from "../../base/brand.ts";
import { deadline } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { GivenUp } from "../../base/given-up.ts";
import type { Chain } from "../../cni/chain.ts";
import { supportsVerb } from "../../cni/cni-version.ts";
import type { Hand } from "../../hands/hand.ts";
import { runCheck } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { DryRunStep } from "../../wire/dry-run.ts";
import { RunChains, type RunChainsNeeds } from "../attach/run-chains.ts";
import { chainPlace } from "../chains/chain-place.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import { pluginFolders } from "../health/plugin-folders.ts";
import { residentCaller } from "../plug/resident-caller.ts";
import { subjectOf } from "../record/subject.ts";
import type { Turns } from "../serve/turns.ts";
import { lookAtNetns, type NetnsNow } from "../undo/netns-to-pass.ts";
import type { Recovery } from "../undo/recovery.ts";
import type { Residents } from "../undo/residents.ts";
import type { Undo } from "../undo/undo.ts";
import { planDryRun, type DryRunPlanNeeds } from "./dry-run-plan.ts";
import { LeftBehind, type Before } from "./left-behind.ts";
import { stormSign } from "./storm-sign.ts";

export interface DryRunNeeds extends DryRunPlanNeeds, Omit<RunChainsNeeds, "journal" | "config" | "admission"> {
  readonly bootId: string;
  readonly admission: Admission;
  readonly journal: Pick<Journal, "all" | "begin" | "step" | "findByToken" | "leaks">;
  readonly turns: Pick<Turns, "take">;
  readonly residents: Pick<Residents, "hand">;
  readonly undo: Pick<Undo, "undo">;
  readonly recovery: Pick<Recovery, "lost">;
}

/** One trial, as its caller follows it. */
export interface Trial {
  readonly namespace: string;
  readonly name: string;
  readonly containerId: ContainerId;
  readonly givenUp: GivenUp;
  /** The step that begins. From ADD on something may be done to the host. */
  begins(step: DryRunStep): void;
  took(addresses: readonly string[]): void;
}

interface Work {
  readonly trial: Trial;
  readonly hand: Hand;
  readonly now: NetnsNow;
  readonly reports: ChainReports;
}

/** A node that has no slot within this time is not calm. */
const slotMs = 3_000;
/** A namespace that nobody drops ends by itself. */
const netnsMs = 300_000;

/**
 * Attaches a network to a namespace of its own, checks it and takes it away again, by the resident hand. It goes the way
 * of an ADD that fails at its end: the plan is synced before the first plugin runs, and the undo of that record is the
 * DEL. So whoever dies in between leaves a record that recovery undoes.
 */
export class DryRun {
  readonly #needs: DryRunNeeds;
  readonly #runChains: RunChains;
  readonly #left: LeftBehind;

  constructor(needs: DryRunNeeds) {
    this.#needs = needs;
    this.#runChains = new RunChains(needs);
    this.#left = new LeftBehind(needs);
  }

  /** Rejects with the reason when a step fails. */
  async run(trial: Trial): Promise<void> {
    const { turns } = this.#needs;
    const hand = this.#hand();
    const network = `${trial.namespace}/${trial.name}`;
    this.#refuseStorm(network);
    const { containerId } = trial;
    const chain = await planDryRun({ ...trial, hand, signal: trial.givenUp.signal }, this.#needs);
    using permit = await this.#admit(network, trial);
    using netns = await hand.keepNetns(netnsMs);
    const now = await lookAtNetns(hand, netns.path);
    const before = await this.#left.before(hand, netns.path);
    // A DEL for this container, from whomever, ends it as it ends an ADD.
    const holder = { verb: "ADD", cancel: (reason: Error) => trial.givenUp.giveUp(reason) };
    using _turn = await turns.take(containerId, holder, trial.givenUp);
    // It says nothing about the network to pods: a trial that fails holds none of them.
    const work = { trial, hand, now, reports: new ChainReports(permit).forUndo() };
    await this.#attempt(work, this.#record(work, chain), before);
  }

  async #attempt(work: Work, record: AttachmentRecord, before: Before): Promise<void> {
    const { trial } = work;
    await this.#needs.journal.begin(record);
    let failure: LeveeError | undefined;
    try {
      trial.begins("ADD");
      const [result] = await this.#add(work, record);
      trial.took(await this.#left.leases(work.hand, record));
      trial.begins("CHECK");
      if (result !== undefined) await this.#check(work, record, result);
    } catch (thrown) {
      failure = toLeveeError(thrown, "Cannot try the network");
    }
    await this.#takeAway(work, record, before, failure);
  }

  async #add(work: Work, record: AttachmentRecord): Promise<readonly JsonText[]> {
    using _lane = await work.hand.places?.lanes.take();
    const caller = residentCaller({ hand: work.hand, givenUp: work.trial.givenUp }, this.#needs);
    return await this.#runChains.run(caller, record, work.reports);
  }

  async #check({ hand, reports, trial }: Work, record: AttachmentRecord, result: JsonText): Promise<void> {
    const { clock, config, notes } = this.#needs;
    const [chain] = record.chains;
    if (chain === undefined || chain.disableCheck || !supportsVerb(chain.cniVersion, "CHECK")) return;
    trial.givenUp.throwIfAborted();
    const late = (): LeveeError => new LeveeError("delegate-timeout", "Cannot run CHECK in time");
    const { containerId, netns, cniPath } = record;
    const facts = { containerId, netns: netns.path as NetnsPath, cniPath, late };
    const place = chainPlace(
      { ...facts, limitMs: config.addDelegatesMs },
      { clock, notes, subject: subjectOf(record, "CHECK"), reports },
    );
    await runCheck(hand, chain, place, result);
  }

  /** Takes everything away in any case, and rejects with the first thing that went wrong. */
  async #takeAway(work: Work, record: AttachmentRecord, before: Before, failure?: LeveeError): Promise<void> {
    const { journal, undo, recovery } = this.#needs;
    const { hand, now, reports, trial } = work;
    const current = journal.findByToken(record.token) ?? record;
    try {
      if (failure === undefined) trial.begins("DEL");
      const isUndone = await undo.undo(current, { hand, now, reports });
      if (failure !== undefined) throw failure;
      if (!isUndone) throw this.#leaked(record);
      trial.begins("compare");
      const left = await this.#left.find(hand, current, before);
      if (left.length > 0) throw leftError(left);
    } catch (thrown) {
      // The undo did not get to its end: the next hand does it.
      if (journal.findByToken(record.token) !== undefined) recovery.lost(record.token, hand.identity);
      throw thrown;
    }
  }

  #leaked({ containerId }: AttachmentRecord): LeveeError {
    const leak = this.#needs.journal.leaks().find((one) => one.containerId === containerId);
    return new LeveeError("delegate-failed", leak?.reason ?? "a plugin's DEL failed");
  }

  #hand(): Hand {
    const hand = this.#needs.residents.hand();
    if (hand === undefined) throw new LeveeError("try-later", "Cannot try a network: no resident hand is connected");
    if (!hand.supports("kept-netns"))
      throw new LeveeError(
        "try-later",
        `Cannot try a network: the resident hand is ${hand.identity.software}, which is too old; roll out the hand of the daemon's version`,
      );
    return hand;
  }

  #refuseStorm(network: string): void {
    const { admission } = this.#needs;
    const sign = stormSign(admission.facts(), network, admission.isHolding);
    if (sign !== undefined) throw new LeveeError("try-later", `Cannot try ${network} now: ${sign}`);
  }

  async #admit(network: string, { containerId, givenUp }: Trial): Promise<Permit> {
    const late = (): LeveeError => new LeveeError("try-later", `Cannot try ${network} now: no slot is free`);
    using limit = deadline(this.#needs.clock, slotMs, late, givenUp.signal);
    // Without a namespace it is never critical.
    const facts = { namespace: "", pod: `dry-run/${containerId}`, priority: undefined, networks: [network] };
    return await this.#needs.admission.admit({ kind: "attach", ...facts }, limit.signal);
  }

  #record({ hand, now, trial }: Work, chain: Chain): AttachmentRecord {
    const { clock, bootId } = this.#needs;
    const { containerId } = trial;
    const name = containerId as string as PodName;
    return {
      token: Buffer.from(clock.randomBytes(16)).toString("hex"),
      containerId,
      ifname: chain.ifname,
      netns: now,
      bootId,
      pod: { namespace: trial.namespace as Namespace, name, uid: "" as PodUid },
      cniPath: pluginFolders(this.#needs, hand).folders.join(":"),
      cniVersion: chain.cniVersion,
      hand: hand.identity,
      startedWallMs: clock.wallMs(),
      chains: [chain],
      phase: "intent",
      steps: new Map(),
      results: [],
      failure: undefined,
      delAttempts: 0,
      origin: "levee",
    };
  }
}

function leftError(left: readonly string[]): LeveeError {
  return new LeveeError("delegate-failed", `The plugins succeeded, but left ${left.join(", ")}`);
}
