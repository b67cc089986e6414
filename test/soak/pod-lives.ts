import type { ChildProcess } from "node:child_process";
import { basename } from "node:path";
import { ip, type CniCall, type CniOutcome } from "../lab/lab.ts";
import { pause } from "../e2e/until.ts";
import { podNetworks, type SoakNode } from "./soak-node.ts";

/** Two pods a second. */
const arrivalMs = 500;
const podNamespace = "storm";
/** A runtime repeats a DEL for as long as it fails; here it is given up when nothing can be expected any more. */
const deletePatienceMs = 120_000;
/** The pause of a runtime between two DELs of one sandbox. */
const deletePauseMs = 1_000;

/** An API server that is restarted on a busy machine takes half a minute. */
const sourceTriesMax = 120;

/** One call of the runtime that is under way. */
export interface RunningCall {
  readonly process: ChildProcess;
  /** Set by the fault that kills it, or a process below it: then it may fail. */
  wasHurt: boolean;
}

/** An ADD that failed, on the clock of the soak. */
export interface FailedAdd {
  readonly beganMs: number;
  readonly endedMs: number;
  readonly said: string;
}

export interface LifeOptions {
  readonly node: SoakNode;
  readonly random: () => number;
  /** The fault that made an ADD fail; undefined when it should not have failed. */
  readonly causeOf: (failed: FailedAdd) => string | undefined;
  /** The faults that were under way meanwhile. */
  readonly during: (failed: FailedAdd) => string;
  readonly say: (line: string) => void;
}

/** Pods that come and go, as a runtime would have them: an ADD in a new namespace, a while, a DEL until it succeeds. */
export class PodLives {
  readonly running = new Set<RunningCall>();
  readonly counts = { arrived: 0, attached: 0, refused: 0, deletes: 0, deletesRepeated: 0 };
  /** ADDs that failed of a fault, by the fault. */
  readonly refusals = new Map<string, number>();
  /** Calls that should not have failed, with their errors. */
  readonly troubles: string[] = [];
  readonly #options: LifeOptions;
  readonly #lives = new Set<Promise<void>>();
  #recycles = 0;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  /** Pods arrive for so long; resolves when the last of them has gone. */
  async comeAndGo(forMs: number): Promise<void> {
    const endsMs = performance.now() + forMs;
    for (let nextMs = performance.now(); nextMs < endsMs; nextMs += arrivalMs) {
      await pause(Math.max(0, nextMs - performance.now()));
      const life = this.#live().catch((thrown: unknown) => this.#note(`a pod: ${String(thrown)}`));
      this.#lives.add(life);
      void life.finally(() => this.#lives.delete(life));
    }
    await Promise.all(this.#lives);
  }

  /** The next pod's sandbox vanishes without a DEL, and another one gets a namespace at the same path. */
  recycleNext(): void {
    this.#recycles += 1;
  }

  async #live(): Promise<void> {
    const { node, random } = this.#options;
    this.counts.arrived += 1;
    const name = `pod-${this.counts.arrived}`;
    const pod = { namespace: podNamespace, name };
    // Without an API server there are no new pods.
    const made = await this.#insist(() => node.source.addPods([{ ...pod, annotations: podNetworks }]));
    const uid = made[0]?.uid ?? "";
    const netns = node.lab.netns(name);
    const args = `${node.lab.podArgs(name, podNamespace)};K8S_POD_UID=${uid}`;
    const call: CniCall = { containerId: `${name}-sandbox`, netns, args };
    try {
      await this.#add(call);
      await pause(1_000 + random() * 4_000);
      await this.#delete(this.#recycles > 0 ? await this.#recycled(call) : call);
    } finally {
      node.lab.deleteNetns(netns);
      await this.#insist(() => node.source.removePod(pod));
    }
  }

  /**
   * The kernel often gives the new namespace the number of the old one. The new sandbox must be attached nevertheless, and
   * the old one's late DEL must leave it alone.
   */
  async #recycled(old: CniCall): Promise<CniCall> {
    this.#recycles -= 1;
    const { lab } = this.#options.node;
    const { netns = "" } = old;
    const name = basename(netns);
    lab.deleteNetns(netns);
    ip(["netns", "add", name]);
    const call = { ...old, containerId: `${old.containerId}-2` };
    const isAttached = await this.#add(call);
    await this.#delete(old);
    const links = ip(["-n", name, "-o", "link", "show"]);
    if (isAttached && !links.includes("eth0"))
      this.#note(`the late DEL of ${old.containerId} took its successor's eth0`);
    return call;
  }

  /** Whether the pod was attached. */
  async #add(call: CniCall): Promise<boolean> {
    const beganMs = performance.now();
    const { outcome, wasHurt } = await this.#call("ADD", call);
    if (outcome.exitCode === 0) {
      this.counts.attached += 1;
      return true;
    }
    this.counts.refused += 1;
    const failed = { beganMs, endedMs: performance.now(), said: outcome.stdout };
    const cause = wasHurt ? "it was killed itself" : this.#options.causeOf(failed);
    if (cause === undefined) this.#note(`${complaint("ADD", call, outcome)}; faults: ${this.#options.during(failed)}`);
    else this.refusals.set(cause, (this.refusals.get(cause) ?? 0) + 1);
    return false;
  }

  async #delete(call: CniCall): Promise<void> {
    const startedMs = performance.now();
    for (;;) {
      const { outcome } = await this.#call("DEL", call);
      this.counts.deletes += 1;
      if (outcome.exitCode === 0) return;
      this.counts.deletesRepeated += 1;
      if (performance.now() - startedMs > deletePatienceMs) {
        this.#note(complaint("DEL", call, outcome));
        return;
      }
      await pause(deletePauseMs);
    }
  }

  async #call(verb: string, call: CniCall): Promise<{ outcome: CniOutcome; wasHurt: boolean }> {
    const started = this.#options.node.lab.start(verb, call);
    const running = { process: started.process, wasHurt: false };
    this.running.add(running);
    const outcome = await started.outcome;
    this.running.delete(running);
    return { outcome, wasHurt: running.wasHurt };
  }

  #note(trouble: string): void {
    this.troubles.push(trouble);
    this.#options.say(`  ✗ ${trouble}`);
  }

  /** Asks the source again and again: it may be away, but not for ever. */
  async #insist<T>(ask: () => Promise<T>): Promise<T> {
    for (let count = 0; ; count += 1) {
      try {
        return await ask();
      } catch (thrown) {
        if (count > sourceTriesMax) throw thrown;
        await pause(1_000);
      }
    }
  }
}

function complaint(verb: string, call: CniCall, { stdout, stderr, signal }: CniOutcome): string {
  const said = (stdout || stderr || (signal ?? "")).replaceAll(/\s+/gu, " ").slice(0, 300);
  return `${verb} of ${call.containerId} failed: ${said}`;
}
