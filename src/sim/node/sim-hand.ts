import { basename, dirname } from "node:path";
import { flagField, lossyTexts, numberField, textField, type Frame, type OutgoingField } from "../../wire/frame.ts";
import { entryOf, foundFile, foundNetns, leaseEntry } from "./look-bytes.ts";
import { pluginCallOf } from "./plugin-call-of.ts";
import type { SimKernel, SimNetns, SimSession } from "./sim-kernel.ts";
import type { PluginCall, PluginEnd, SimPlugins, StartedPlugin } from "./sim-plugins.ts";

/** An order that has ended: the fields of its OUTCOME. */
export interface EndedOrder {
  readonly step: number;
  readonly fields: readonly OutgoingField[];
  /** Whether a plugin was started and may need an undo. */
  readonly hasRun: boolean;
  readonly isOk: boolean;
}

/** A RUN that the shim can undo by itself. */
export interface RunToUndo {
  readonly step: number;
  readonly call: PluginCall;
  readonly undoTimeoutMs: number;
}

interface HandNeeds {
  readonly kernel: SimKernel;
  readonly plugins: SimPlugins;
  readonly session: SimSession;
  /** The host's folder of libcni. */
  readonly runtimeDir: string;
  readonly onEnded: (ended: EndedOrder) => void;
  /** Hears how long a running plugin has used no CPU. */
  readonly onProgress?: ((step: number, idleMs: number) => void) | undefined;
}

/** As `shim/src/orders`: when it reads the CPU time of a plugin. */
const firstLookMs = 250;
const lookAgainMs = 1_000;
/** A look at the host takes at most this long. */
const lookMsMax = 3;
/** As REAP of the real shim: a leader that seems alive is looked at again, and its children may end by themselves. */
const dyingMs = 300;
const graceMs = 1_000;

/** Carries out the daemon's orders, as `shim/src/orders/` does. */
export class SimHand {
  readonly #needs: HandNeeds;
  /** The running plugins by step. */
  readonly #runs = new Map<number, () => void>();
  #orders = 0;

  constructor(needs: HandNeeds) {
    this.#needs = needs;
  }

  get isIdle(): boolean {
    return this.#orders === 0;
  }

  take(frame: Frame): void {
    const step = numberField(frame, "step") ?? 0;
    if (frame.type === "RUN") this.run(step, pluginCallOf(frame));
    else if (frame.type === "KILL") this.#runs.get(step)?.();
    else if (frame.type === "REAP") this.#reap(step, frame);
    else this.#soon(step, () => this.#look(frame));
  }

  #look(frame: Frame): readonly OutgoingField[] {
    const path = textField(frame, "path") ?? "";
    switch (frame.type) {
      case "STAT":
        return lossyTexts(frame, "path").map((one) => this.#found(one));
      case "LINKS":
        return this.#links(frame);
      case "LIST":
        return this.#list(path);
      case "ROUTES":
        return [];
      case "REMOVE":
        return this.#remove(path);
      default:
        throw new TypeError(`A simulated hand knows no order ${frame.type}`);
    }
  }

  run(step: number, call: PluginCall): void {
    const { plugins, session } = this.#needs;
    this.#orders += 1;
    const run = plugins.start(call, session, (end) => {
      this.#runs.delete(step);
      const isOk = end.exitCode === 0;
      const isGone = call.netns !== "" && !this.#needs.kernel.netns.has(call.netns);
      const gone: readonly OutgoingField[] = !isOk && isGone ? [["netns_gone", true]] : [];
      this.#ended({ step, fields: [...fieldsOf(end), ...gone], hasRun: true, isOk });
    });
    this.#runs.set(step, () => run.kill());
    if (this.#needs.onProgress !== undefined) this.#report(step, run, firstLookMs);
  }

  /** Reads how long a run has used no CPU; the first reading is only for comparison. */
  #report(step: number, run: StartedPlugin, afterMs: number): void {
    this.#needs.session.process.after(afterMs, () => {
      if (!this.#runs.has(step)) return;
      if (afterMs === lookAgainMs) this.#needs.onProgress?.(step, Math.round(run.idleMs()));
      this.#report(step, run, lookAgainMs);
    });
  }

  killAll(): void {
    for (const kill of [...this.#runs.values()]) kill();
  }

  #soon(step: number, look: () => readonly OutgoingField[]): void {
    const { process } = this.#needs.session;
    this.#orders += 1;
    process.soon(process.random() * lookMsMax, () => this.#ended({ step, fields: look(), hasRun: false, isOk: true }));
  }

  #ended(ended: EndedOrder): void {
    this.#orders -= 1;
    // The plugins of a killed shim go on, and nobody hears of their end.
    if (this.#needs.session.process.isAlive) this.#needs.onEnded(ended);
  }

  #reap(step: number, frame: Frame): void {
    const { kernel, session } = this.#needs;
    const pid = numberField(frame, "pid") ?? 0;
    const startTicks = numberField(frame, "pid_start") ?? 0;
    const found = (): SimSession | undefined => {
      const lost = kernel.sessions.get(pid);
      return lost?.startTicks === startTicks ? lost : undefined;
    };
    this.#orders += 1;
    const end = (fields: readonly OutgoingField[]): void => this.#ended({ step, fields, hasRun: false, isOk: true });
    const look = (waitedMs: number): void => {
      const lost = found();
      if (lost === undefined || (!lost.process.isAlive && lost.plugins.size === 0)) {
        kernel.sessions.delete(pid);
        return end([["processes", 0]]);
      }
      if (lost.process.isAlive && waitedMs >= dyingMs) return end([["alive", true]]);
      if (!lost.process.isAlive && waitedMs >= graceMs) for (const kill of lost.plugins) kill();
      session.process.after(10, () => look(waitedMs + 10));
    };
    look(0);
  }

  #found(path: string): OutgoingField {
    const { kernel, runtimeDir } = this.#needs;
    if (path === "/proc/self/ns/net") return ["found", foundNetns(hostNetns)];
    const netns = kernel.netns.get(path);
    if (netns !== undefined) return ["found", foundNetns(netns)];
    const isResult = dirname(path) === `${runtimeDir}/results` && kernel.results.has(basename(path));
    return ["found", isResult ? foundFile : Buffer.from([0])];
  }

  #links(frame: Frame): readonly OutgoingField[] {
    const path = textField(frame, "netns") ?? "";
    const netns = path === "" ? hostNetns : this.#needs.kernel.netns.get(path);
    if (netns === undefined)
      return [
        ["failure", "links"],
        ["errno", 2],
        ["message", `no namespace at ${path}`],
      ];
    const fields: OutgoingField[] = [["link", "lo"]];
    for (const name of netns.links.keys()) fields.push(["link", name]);
    if (flagField(frame, "count_users")) fields.push(["users", netns.users]);
    return fields;
  }

  #list(path: string): readonly OutgoingField[] {
    const { kernel, runtimeDir } = this.#needs;
    if (path === `${runtimeDir}/results`)
      return [...kernel.results.keys()]
        .toSorted()
        .map((name) => ["entry", entryOf(name, kernel.results.get(name) ?? 0, "")]);
    if (path === `${runtimeDir}/networks`)
      return [...kernel.leases.keys()].toSorted().map((name) => ["entry", entryOf(name, 0)]);
    const leases = dirname(path) === `${runtimeDir}/networks` ? kernel.leases.get(basename(path)) : undefined;
    if (leases === undefined)
      return [
        ["failure", "list"],
        ["errno", 2],
        ["message", `no folder ${path}`],
      ];
    return [...leases.keys()].toSorted().map((address) => ["entry", leaseEntry(address, leases.get(address))]);
  }

  #remove(path: string): readonly OutgoingField[] {
    this.#needs.kernel.leases.get(basename(dirname(path)))?.delete(basename(path));
    return [];
  }
}

const hostNetns: SimNetns = { path: "", inode: 4_026_531_840n, cookie: 1n, links: new Map(), users: 1 };

function fieldsOf({
  exitCode,
  signal,
  isTimedOut,
  stdout,
  tookMs,
  cpuMs = tookMs / 4,
}: PluginEnd): readonly OutgoingField[] {
  const wallUs = Math.round(tookMs * 1_000);
  return [
    ["exit_code", exitCode],
    ["signal", signal],
    ["timed_out", isTimedOut ? true : undefined],
    ["stdout", stdout],
    ["wall_us", wallUs],
    ["cpu_us", Math.round(cpuMs * 1_000)],
    ["max_rss_kib", 9_000],
  ];
}
