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

/** What is left alone, and why, for people. */
const leftBecause: Partial<Record<TargetVerdict, string>> = {
  Replaced: "another pod has its name by now",
  Started: "it has started meanwhile",
  Owned: "it has an owner by now",
  Mirror: "it is a mirror of a static pod",
  Exempt: "it says by now why it needs no owner",
};

/** The removal of one step's targets, batch by batch, and what has come of it. */
export class PodRemoval {
  readonly #step: RemovePodsStep;
  readonly #context: StepContext;
  readonly #before: LoadBefore;
  readonly #leftAlone = new Map<string, string>();
  /** By a leader before us, or before a pause. */
  readonly #removedBefore: number;
  #removedNow = 0;
  #goneSeen = 0;

  constructor(step: RemovePodsStep, context: StepContext) {
    this.#step = step;
    this.#context = context;
    this.#before = loadNow(context.world());
    this.#removedBefore = context.reported.removed ?? 0;
  }

  get removed(): number {
    return this.#removedBefore + this.#removedNow;
  }

  report(): Required<Pick<StepReport, "message" | "removed" | "gone" | "leftAlone">> {
    const { removed } = this;
    const gone = Math.max(0, this.#goneSeen - this.#removedBefore);
    const leftAlone = [...this.#leftAlone].map(([name, why]) => `${name}: ${why}`).toSorted();
    const message = `Of ${this.#step.targets.length} pods: ${removed} removed, ${gone} gone already, ${leftAlone.length} left alone`;
    return { message, removed, gone, leftAlone };
  }

  /** Looks at each anew, tries all, says what it is about to do, removes, and waits until they are gone. */
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

  /** Asks by a dry run; in the body, as the server deletes when it is in the query. */
  async refusalOf(target: PodTarget): Promise<string | undefined> {
    try {
      await this.#delete(target, { dryRun: true, force: false });
      return undefined;
    } catch (thrown) {
      // Gone or replaced meanwhile: seen again when its turn comes.
      return [404, 409].includes(kubeStatusOf(thrown) ?? 0) ? undefined : refusalText(thrown);
    }
  }

  async #look(batch: readonly PodTarget[]): Promise<{ ready: PodTarget[]; leaving: PodTarget[] }> {
    const ready: PodTarget[] = [];
    const leaving: PodTarget[] = [];
    for (const target of batch) {
      const verdict = classifyTarget(target, await readObject(this.#context.api, podPath(target)));
      if (verdict === "Remove") ready.push(target);
      else if (verdict === "Leaving") leaving.push(target);
      else this.#count(target, verdict);
    }
    return { ready, leaving };
  }

  /** True when it was asked to go. Looked at once more, as the batch may have waited for its minute. */
  async #remove(target: PodTarget): Promise<boolean> {
    const verdict = classifyTarget(target, await readObject(this.#context.api, podPath(target)));
    if (verdict !== "Remove") return this.#count(target, verdict);
    try {
      await this.#delete(target, { dryRun: false, force: false });
      this.#removedNow += 1;
      return true;
    } catch (thrown) {
      return await this.#afterRefusal(target, thrown);
    }
  }

  /** A pod that changed between the look and the request is left alone; any other refusal stops the step. */
  async #afterRefusal(target: PodTarget, thrown: unknown): Promise<boolean> {
    const status = kubeStatusOf(thrown);
    if (status === 404) return this.#count(target, "Gone");
    if (status === 409) return this.#count(target, "Replaced");
    const verdict = classifyTarget(target, await readObject(this.#context.api, podPath(target)));
    if (status === undefined || verdict === "Remove") throw thrown;
    return this.#count(target, verdict);
  }

  /** Until none of them is there, or force is due. */
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

  /** Only what still hangs and still never ran. */
  async #force(target: PodTarget): Promise<void> {
    const { api } = this.#context;
    const live = await readObject(api, podPath(target));
    const verdict = classifyTarget(target, live);
    // Replaced: the one that was asked to go is gone.
    if (verdict === "Gone" || verdict === "Replaced") return;
    if (verdict !== "Leaving") {
      this.#count(target, verdict);
      return;
    }
    const node = await readObject(api, `/api/v1/nodes/${encodeURIComponent(target.node)}`);
    const problem = forceProblem(live, node);
    if (problem !== undefined) {
      this.#leftAlone.set(nameOf(target), `asked to go, but ${problem}`);
      return;
    }
    try {
      await this.#delete(target, { dryRun: false, force: true });
      this.#context.audit("remove by force what hangs", [nameOf(target)], "removed");
    } catch (thrown) {
      if (![404, 409].includes(kubeStatusOf(thrown) ?? 0)) throw thrown;
    }
  }

  #count(target: PodTarget, verdict: TargetVerdict): boolean {
    if (verdict === "Leaving") return true;
    if (verdict === "Gone") this.#goneSeen += 1;
    else this.#leftAlone.set(nameOf(target), leftBecause[verdict] ?? verdict);
    return false;
  }

  async #delete(target: PodTarget, removal: { readonly dryRun: boolean; readonly force: boolean }): Promise<void> {
    const body = deleteOptions(target, removal);
    await this.#context.api.call({ method: "DELETE", path: podPath(target), body, deadlineMs: requestMs });
  }
}

function nameOf({ namespace, name }: PodTarget): string {
  return `${namespace}/${name}`;
}
