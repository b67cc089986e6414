import { LeveeError } from "../../../base/errors.ts";
import { kubeStatusOf } from "../../../kube/client/api.ts";
import type { PodTarget, RemovePodsStep } from "../../decision/step.ts";
import { grantRemovals } from "./budget-grant.ts";
import { classifyTarget, type TargetVerdict } from "./classify-target.ts";
import { loadNow, untilCalm, type LoadBefore } from "./daemon-calm.ts";
import { deleteOptions, podPath } from "./delete-options.ts";
import { forceProblem } from "./force-problem.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import type { StepContext, StepReport } from "../step-runner.ts";

const requestMs = 10_000;
const lookMs = 1_000;

/** Why a pod is left alone, for people. */
const leftBecause: Partial<Record<TargetVerdict, string>> = {
  Replaced: "another pod has its name now",
  Started: "it has started",
  Owned: "it has an owner now",
  Mirror: "it is the mirror of a static pod",
  Exempt: "it now has a reason to need no owner",
};

/** `away`: not by a request of this run. */
type TargetEnd = { readonly is: "asked" | "away" } | { readonly is: "left"; readonly why: string };

/** Removes the targets of one step, batch by batch, and keeps the counts. */
export class PodRemoval {
  readonly #step: RemovePodsStep;
  readonly #context: StepContext;
  readonly #before: LoadBefore;
  /** What became of each target, by its name; the last finding replaces the ones before, so each counts once. */
  readonly #ends = new Map<string, TargetEnd>();
  /** Removed by an earlier leader or before a pause. Which pods these were is not known any more. */
  readonly #removedBefore: number;

  constructor(step: RemovePodsStep, context: StepContext) {
    this.#step = step;
    this.#context = context;
    this.#before = loadNow(context.world());
    this.#removedBefore = context.reported.removed ?? 0;
  }

  get removed(): number {
    return this.#counts().removed;
  }

  report(): Required<Pick<StepReport, "message" | "removed" | "gone" | "leftAlone">> {
    const { removed, gone } = this.#counts();
    const leftAlone = [...this.#ends]
      .flatMap(([name, end]) => (end.is === "left" ? [`${name}: ${end.why}`] : []))
      .toSorted();
    const all = this.#step.targets.length;
    const waiting = all - removed - gone - leftAlone.length;
    const rest = waiting === 0 ? "" : `, ${waiting} not yet looked at`;
    const message = `Of ${all} pods: ${removed} removed, ${gone} gone already, ${leftAlone.length} left alone${rest}`;
    return { message, removed, gone, leftAlone };
  }

  /**
   * Of the pods that are gone without a request of this run, as many as an earlier run removed are its work. While pods
   * are not yet looked at, the rest of that work is among them. So no pod counts twice, and in the end each counts once.
   */
  #counts(): { readonly removed: number; readonly gone: number } {
    const ends = [...this.#ends.values()];
    const [asked, away] = (["asked", "away"] as const).map((is) => ends.filter((end) => end.is === is).length);
    const unseen = this.#step.targets.length - ends.length;
    const earlier = Math.min(this.#removedBefore, (away ?? 0) + unseen);
    return { removed: (asked ?? 0) + earlier, gone: Math.max(0, (away ?? 0) - this.#removedBefore) };
  }

  /** Reads each pod again, tries a dry run, writes the intent, removes the pods and waits until they are gone. */
  async carryOut(number: number, batch: readonly PodTarget[]): Promise<void> {
    await untilCalm(this.#context, new Set(batch.map(({ node }) => node)), this.#before);
    const { ready, leaving } = await this.#look(batch);
    for (const target of ready) {
      const refusal = await this.refusalOf(target);
      if (refusal !== undefined) throw new LeveeError("not-ready", `the dry run was refused: ${refusal}`);
    }
    const asked: PodTarget[] = [...leaving];
    for (let from = 0; from < ready.length;) {
      const pods = await grantRemovals(this.#context, this.#step.removePods.namespace, ready.length - from);
      const part = ready.slice(from, from + pods);
      from += part.length;
      await this.#context.intend(
        number,
        part.map(({ uid }) => uid),
      );
      for (const target of part) if (await this.#remove(target)) asked.push(target);
      this.#context.audit(`batch ${number}: remove pods`, part.map(nameOf), this.report().message);
    }
    await this.#untilGone(asked);
  }

  /** The reason why a dry run is refused; undefined when it is not. */
  async refusalOf(target: PodTarget): Promise<string | undefined> {
    try {
      await this.#delete(target, { dryRun: true, force: false });
      return undefined;
    } catch (thrown) {
      // The pod is gone or replaced; its own turn will show it.
      return [404, 409].includes(kubeStatusOf(thrown) ?? 0) ? undefined : refusalText(thrown);
    }
  }

  async #look(batch: readonly PodTarget[]): Promise<{ ready: PodTarget[]; leaving: PodTarget[] }> {
    const ready: PodTarget[] = [];
    const leaving: PodTarget[] = [];
    for (const target of batch) {
      const verdict = classifyTarget(target, await readObject(this.#context.api, podPath(target)));
      if (verdict === "Remove") ready.push(target);
      else if (this.#count(target, verdict)) leaving.push(target);
    }
    return { ready, leaving };
  }

  /** True when the pod is being deleted. Reads it once more, because the batch may have waited for its minute. */
  async #remove(target: PodTarget): Promise<boolean> {
    const verdict = classifyTarget(target, await readObject(this.#context.api, podPath(target)));
    if (verdict !== "Remove") return this.#count(target, verdict);
    try {
      await this.#delete(target, { dryRun: false, force: false });
      this.#ends.set(nameOf(target), { is: "asked" });
      return true;
    } catch (thrown) {
      return await this.#afterRefusal(target, thrown);
    }
  }

  /** A pod that changed between read and request is left alone; any other refusal stops the step. */
  async #afterRefusal(target: PodTarget, thrown: unknown): Promise<boolean> {
    const status = kubeStatusOf(thrown);
    if (status === 404) return this.#count(target, "Gone");
    if (status === 409) return this.#count(target, "Replaced");
    const verdict = classifyTarget(target, await readObject(this.#context.api, podPath(target)));
    if (status === undefined || verdict === "Remove") throw thrown;
    return this.#count(target, verdict);
  }

  /** Waits until all of them are gone; after the time limit, the rest is removed by force. */
  async #untilGone(asked: readonly PodTarget[]): Promise<void> {
    const { clock, signal, world } = this.#context;
    const awaited = new Map(asked.map((target) => [target.uid, target]));
    const endMs = clock.monotonicMs() + this.#step.removePods.forceAfterSeconds * 1_000;
    for (;;) {
      const present = new Set<string>();
      for (const { uid } of world().pods) if (awaited.has(uid)) present.add(uid);
      for (const uid of awaited.keys()) if (!present.has(uid)) awaited.delete(uid);
      if (awaited.size === 0) return;
      if (clock.monotonicMs() >= endMs) break;
      await clock.sleep(lookMs, signal);
    }
    for (const target of awaited.values()) await this.#force(target);
  }

  /** Only a pod that still hangs and never ran. */
  async #force(target: PodTarget): Promise<void> {
    const { api } = this.#context;
    const live = await readObject(api, podPath(target));
    const verdict = classifyTarget(target, live);
    // Replaced means that the deleted pod is gone.
    if (verdict === "Gone" || verdict === "Replaced") return;
    if (verdict !== "Leaving") {
      this.#count(target, verdict);
      return;
    }
    const node = await readObject(api, `/api/v1/nodes/${encodeURIComponent(target.node)}`);
    const problem = forceProblem(live, node);
    if (problem !== undefined) {
      this.#ends.set(nameOf(target), { is: "left", why: `it was deleted, but ${problem}` });
      return;
    }
    try {
      await this.#delete(target, { dryRun: false, force: true });
      this.#context.audit("remove a hanging pod by force", [nameOf(target)], "removed");
    } catch (thrown) {
      if (![404, 409].includes(kubeStatusOf(thrown) ?? 0)) throw thrown;
    }
  }

  /** True for a pod that is on its way, by an earlier request of ours or of somebody else. */
  #count(target: PodTarget, verdict: TargetVerdict): boolean {
    const isAway = verdict === "Leaving" || verdict === "Gone";
    this.#ends.set(nameOf(target), isAway ? { is: "away" } : { is: "left", why: leftBecause[verdict] ?? verdict });
    return verdict === "Leaving";
  }

  async #delete(target: PodTarget, removal: { readonly dryRun: boolean; readonly force: boolean }): Promise<void> {
    const body = deleteOptions(target, removal);
    await this.#context.api.call({ method: "DELETE", path: podPath(target), body, deadlineMs: requestMs });
  }
}

function nameOf({ namespace, name }: PodTarget): string {
  return `${namespace}/${name}`;
}
