import type { IfName, JsonText } from "../../base/brand.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { PlugEnd } from "../../state/journal/plug-record.ts";
import { prepareDeviceInfo, removeDeviceInfo } from "../chains/device-info.ts";
import { subjectOf } from "../record/subject.ts";
import type { Timeline } from "../record/timeline.ts";
import type { Leaks } from "../undo/leaks.ts";
import { joinErrors } from "../undo/undo-chains.ts";
import type { Undo } from "../undo/undo.ts";
import type { PlugChains } from "./plug-chains.ts";
import type { PlugWork } from "./plug-work.ts";
import { refuseForeign } from "./plug-plan.ts";

export interface PlugOperationNeeds {
  readonly config: Pick<DaemonConfig, "delAttemptsMax" | "deviceInfoDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "findByToken" | "plug" | "plugEnded">;
  readonly timeline: Timeline;
  readonly undo: Pick<Undo, "chains">;
  readonly leaks: Pick<Leaks, "settle">;
  readonly chains: Pick<PlugChains, "add" | "addAgain">;
}

/** How far a change with a network that joins has come. */
type Stage = "taking-away" | "away" | "joining";

/**
 * Changes the networks of a running pod so that it ends with the new ones or with the old ones. The journal has the whole
 * change, synced, before the first plugin runs. Its end is one entry. A detachment goes forward, because nothing is won
 * by attaching again; anything else that fails or is cut short goes back.
 */
export class PlugOperation {
  readonly #needs: PlugOperationNeeds;

  constructor(needs: PlugOperationNeeds) {
    this.#needs = needs;
  }

  async change(work: PlugWork, leaving: readonly Chain[], joining: readonly Chain[]): Promise<void> {
    const { journal } = this.#needs;
    const gone = leaving.map(({ ifname }) => ifname);
    // Before the intent: from then on an interface of that name counts as ours, and an undo would remove it.
    const isOurs = ({ ifname }: Chain): boolean => gone.includes(ifname);
    await refuseForeign(
      work.hand,
      work.now.path,
      joining.filter((chain) => !isOurs(chain)),
    );
    await journal.plug(work.token, { hand: work.hand.identity, leaving: gone, joining, steps: new Map() });
    this.#note(work, "planned", { detail: changeText(leaving, joining) });
    if (joining.length === 0) return await this.#detach(work);
    let stage: Stage = "taking-away";
    try {
      if (leaving.length > 0) await this.#takeAway(work, leaving);
      stage = "away";
      await refuseForeign(work.hand, work.now.path, joining);
      stage = "joining";
      const record = this.#partOf(work, joining);
      await prepareDeviceInfo(record, this.#needs.config.deviceInfoDir, this.#needs.logger);
      const joined = await this.#needs.chains.add(work, record);
      work.givenUp.throwIfAborted();
      await this.#end(work, { gone, joined, renewed: [] });
    } catch (thrown) {
      const error = toLeveeError(thrown, "Cannot change the pod's networks");
      await work.reports.failed(error);
      // The runtime's DEL, or the next hand, finds the change in the journal.
      if (!work.givenUp.aborted && !work.hand.isLost) await this.#goBack(work, stage);
      throw error;
    }
  }

  /** Ends a change that an earlier daemon or hand left: a detachment is finished, anything else is taken back. */
  async recover(work: PlugWork): Promise<void> {
    const plug = this.#record(work).plug;
    if (plug === undefined) return;
    this.#note(work, "resumed", { detail: plug.joining.length === 0 ? "the detachment goes on" : "it is taken back" });
    await (plug.joining.length === 0 ? this.#detach(work) : this.#goBack(work, "joining"));
  }

  /** A plugin that fails again and again does not keep the pod's networks from changing: the leak ledger keeps the rest. */
  async #detach(work: PlugWork): Promise<void> {
    const leaving = this.#leaving(work);
    const part = this.#partOf(work, leaving);
    const failures = await this.#undo(work, part, "DEL");
    if (failures.length > 0 && work.attempts + 1 < this.#needs.config.delAttemptsMax)
      throw joinErrors(failures.map(({ error }) => error));
    await this.#needs.leaks.settle(part, work.now, failures);
    await this.#end(work, { gone: leaving.map(({ ifname }) => ifname), joined: [], renewed: [] });
  }

  async #takeAway(work: PlugWork, leaving: readonly Chain[]): Promise<void> {
    const failures = await this.#undo(work, this.#partOf(work, leaving), "DEL");
    if (failures.length > 0) throw joinErrors(failures.map(({ error }) => error));
    work.givenUp.throwIfAborted();
  }

  /** The pod gets its old networks again, with the bytes of their own ADD. */
  async #goBack(work: PlugWork, stage: Stage): Promise<void> {
    if (stage === "joining") await this.#undoJoining(work);
    const end: { gone: IfName[]; renewed: { ifname: IfName; result: JsonText }[] } = { gone: [], renewed: [] };
    for (const chain of this.#leaving(work)) {
      // After its DEL an interface of that name is another one's, and a DEL would remove it.
      const isTaken = stage === "away" && (await this.#isThere(work, chain));
      const result = isTaken ? "lost" : await this.#attachAgain(work, chain);
      if (result === "lost") end.gone.push(chain.ifname);
      else if (result !== "kept") end.renewed.push({ ifname: chain.ifname, result: result.text });
    }
    await this.#end(work, { ...end, joined: [] });
    this.#note(work, "undone", end.gone.length > 0 ? { detail: `${end.gone.join(", ")} could not come back` } : {});
  }

  async #undoJoining(work: PlugWork): Promise<void> {
    const { plug } = this.#record(work);
    if (plug === undefined) return;
    const part = { ...this.#partOf(work, plug.joining), phase: "undoing" as const, steps: plug.steps };
    await this.#needs.leaks.settle(part, work.now, await this.#undo(work, part, "UNDO"));
    await removeDeviceInfo(part, this.#needs.config.deviceInfoDir, this.#needs.logger);
  }

  /** "kept": its DEL failed and its interface is still there. "lost": it is gone and could not be attached again. */
  async #attachAgain(work: PlugWork, chain: Chain): Promise<{ readonly text: JsonText } | "kept" | "lost"> {
    const part = this.#partOf(work, [chain]);
    const failures = await this.#undo(work, part, "DEL");
    if (failures.length > 0 && (await this.#isThere(work, chain))) return "kept";
    await this.#needs.leaks.settle(part, work.now, failures);
    try {
      const text = await this.#needs.chains.addAgain(work, part, chain.ifname);
      return text === undefined ? "lost" : { text };
    } catch (thrown) {
      work.givenUp.throwIfAborted();
      if (work.hand.isLost) throw thrown;
      this.#note(work, "failed", {
        detail: `${chain.network} could not be attached again as ${chain.ifname}: ${toLeveeError(thrown, "ADD").message}`,
      });
      const begun = this.#partOf(work, [chain]);
      await this.#needs.leaks.settle(begun, work.now, await this.#undo(work, begun, "UNDO"));
      return "lost";
    }
  }

  async #isThere({ hand, now }: PlugWork, chain: Chain): Promise<boolean> {
    return await refuseForeign(hand, now.path, [chain]).then(
      () => false,
      (thrown: unknown) => thrown instanceof LeveeError && thrown.code === "interface-taken",
    );
  }

  #undo(work: PlugWork, part: AttachmentRecord, verb: "DEL" | "UNDO"): ReturnType<Undo["chains"]> {
    const { hand, now } = work;
    return this.#needs.undo.chains(part, { hand, now, verb, reports: work.reports.forUndo() });
  }

  async #end(work: PlugWork, end: PlugEnd): Promise<void> {
    await this.#needs.journal.plugEnded(work.token, end);
  }

  #leaving(work: PlugWork): readonly Chain[] {
    const { chains, plug } = this.#record(work);
    return chains.filter(({ ifname }) => plug?.leaving.includes(ifname) === true);
  }

  /** The record as if it had only these chains. */
  #partOf(work: PlugWork, chains: readonly Chain[]): AttachmentRecord {
    const record = this.#record(work);
    const results = chains.map((chain) => record.results[record.chains.indexOf(chain)]);
    return { ...record, chains, results, steps: new Map(), plug: undefined };
  }

  #record({ token }: PlugWork): AttachmentRecord {
    const record = this.#needs.journal.findByToken(token);
    if (record !== undefined) return record;
    throw new LeveeError("cancelled", "Cannot change the pod's networks: its attachment is gone");
  }

  #note(work: PlugWork, what: string, facts: { readonly detail?: string }): void {
    this.#needs.timeline.note(subjectOf(this.#record(work), "PLUG"), what, facts);
  }
}

function changeText(leaving: readonly Chain[], joining: readonly Chain[]): string {
  return [
    ...leaving.map(({ network, ifname }) => `detach ${network} (${ifname})`),
    ...joining.map(({ network, ifname }) => `attach ${network} as ${ifname}`),
  ].join(", ");
}
