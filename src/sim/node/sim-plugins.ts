import type { Cancel } from "../../base/clock.ts";
import type { SimMachine } from "../machine/sim-machine.ts";
import type { Seeded } from "../time/seeded.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { SimListener } from "./sim-event.ts";
import type { SimKernel, SimLease, SimSession } from "./sim-kernel.ts";

/** How the plugins of a network behave at present. */
export interface PluginTemper {
  /** The usual time of one run. */
  costMs: number;
  /** The share of runs that fail before they did anything. */
  failShare: number;
  /** The share of ADDs that fail with their work half done. */
  halfDoneShare: number;
  /** Runs never end. */
  hangs: boolean;
  /** Every DEL fails, and leaves everything as it is. */
  delFails: boolean;
}

/** One plugin to run, with the variables and the configuration that it gets. */
export interface PluginCall {
  readonly verb: string;
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  readonly config: PluginConfig;
  readonly timeoutMs: number;
}

interface PluginConfig {
  readonly name: string;
  readonly type: string;
  readonly cniVersion: string;
}

/** How a run ended. */
export interface PluginEnd {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly isTimedOut: boolean;
  readonly stdout: string;
  readonly tookMs: number;
  /** Undefined where CPU costs nothing. */
  readonly cpuMs?: number | undefined;
}

/** A run that goes on. */
export interface StartedPlugin {
  /** Kills it, unless it has ended. */
  kill(): void;
  /** For how long it has used no CPU. */
  idleMs(): number;
}

/** One run: how it behaves, and what happens in its middle and at its end. */
interface PluginWork {
  readonly temper: PluginTemper;
  readonly factor: number;
  readonly act: () => void;
  /** It has no more to compute. */
  readonly rest: () => void;
  readonly finish: () => void;
}

interface PluginsNeeds {
  readonly node: string;
  readonly time: SimTime;
  readonly seeded: Seeded;
  readonly kernel: SimKernel;
  readonly say: SimListener;
  readonly machine?: SimMachine | undefined;
}

const killSignal = 9;
/** Addresses of one network, as many as a /18 has. */
const addressesMax = 16_380;
const addresses = Array.from({ length: addressesMax - 2 }, (_, at) => `10.1.${(at + 2) >> 8}.${(at + 2) & 255}`);
/** From when on a run has had its effect, as a share of its time. */
const effectShare = { min: 0.3, max: 0.9 };
const usualTemper: PluginTemper = { costMs: 60, failShare: 0, halfDoneShare: 0, hangs: false, delFails: false };

/** The plugins of one node. They make interfaces, take addresses, and cost time; some fail, hang or are killed. */
export class SimPlugins {
  readonly #needs: PluginsNeeds;
  readonly #tempers = new Map<string, PluginTemper>();
  /** How many run now, of all networks. */
  running = 0;

  constructor(needs: PluginsNeeds) {
    this.#needs = needs;
  }

  temperOf(network: string): PluginTemper {
    const known = this.#tempers.get(network) ?? { ...usualTemper };
    this.#tempers.set(network, known);
    return known;
  }

  calmAll(): void {
    for (const temper of this.#tempers.values()) Object.assign(temper, { ...usualTemper, costMs: temper.costMs });
  }

  /** Starts a plugin in the session of its hand. `onEnd` is called once, also when it is killed. */
  start(call: PluginCall, session: SimSession, onEnd: (end: PluginEnd) => void): StartedPlugin {
    const { time, seeded, node, say, machine } = this.#needs;
    say({ kind: "run", node, verb: call.verb, network: call.config.name, containerId: call.containerId });
    const temper = this.temperOf(call.config.name);
    const beganMs = time.nowMs;
    const factor = temper.hangs ? 1 : seeded.between(0.5, 2);
    const isHalf = call.verb === "ADD" && seeded.chance(temper.halfDoneShare);
    const fails = seeded.chance(temper.failShare) || (call.verb === "DEL" && temper.delFails);
    let problem = fails ? `simulated failure of ${call.config.name}` : undefined;
    let stdout = "";
    this.running += 1;
    const act = (): void => {
      if (problem !== undefined) return;
      const outcome = this.#act(call);
      problem = isHalf ? "simulated failure after half of the work" : outcome.problem;
      stdout = outcome.stdout;
    };
    const finish = (): void =>
      end(problem === undefined ? { exitCode: 0, stdout } : { exitCode: 1, stdout: errorText(problem) });
    let restsSinceMs: number | undefined;
    const rest = (): void => void (restsSinceMs = time.nowMs);
    const cancels = [
      this.#work(call, { temper, factor, act, rest, finish }),
      time.after(call.timeoutMs, () => end({ signal: killSignal, stdout: "", isTimedOut: true })),
    ];
    const kill = (): void => end({ signal: killSignal, stdout: "" });
    const end = (how: Partial<PluginEnd> & { readonly stdout: string }): void => {
      if (!session.plugins.delete(kill)) return;
      for (const cancel of cancels) cancel();
      this.running -= 1;
      const cpuMs = machine === undefined ? undefined : machine.model.pluginCpuMs;
      onEnd({ isTimedOut: false, tookMs: time.nowMs - beganMs, cpuMs, ...how });
    };
    session.plugins.add(kill);
    return { kill, idleMs: () => (restsSinceMs === undefined ? 0 : time.nowMs - restsSinceMs) };
  }

  /** Lets a run take its time, and act somewhere in the middle. */
  #work(call: PluginCall, { temper, factor: usualFactor, act, rest, finish }: PluginWork): Cancel {
    const { time, seeded, machine, kernel } = this.#needs;
    const factor = temper.hangs ? Number.POSITIVE_INFINITY : usualFactor;
    const share = seeded.between(effectShare.min, effectShare.max);
    if (machine === undefined) {
      const takesMs = temper.costMs * factor;
      const cancels = [time.after(takesMs * share, act), time.after(takesMs, finish)];
      return () => cancels.forEach((cancel) => cancel());
    }
    // Times of real plugins differ less than those of the stories, whose sense is to differ.
    const already = kernel.leasesOf(call.config.name).size;
    const slowMs = temper.costMs === usualTemper.costMs ? undefined : temper.costMs * factor;
    const waitMs = temper.hangs ? Number.POSITIVE_INFINITY : slowMs;
    return machine.runPlugin({ already, factor: 1 + (usualFactor - 1) / 4, share, waitMs, act, rest, finish });
  }

  #act(call: PluginCall): { readonly stdout: string; readonly problem: string | undefined } {
    if (call.verb === "ADD") return this.#add(call);
    if (call.verb === "DEL") this.#delete(call);
    return { stdout: "", problem: undefined };
  }

  #add(call: PluginCall): { readonly stdout: string; readonly problem: string | undefined } {
    const { kernel, time, node, say, machine } = this.#needs;
    const { containerId, ifname, config } = call;
    const netns = kernel.netns.get(call.netns);
    if (netns === undefined) return { stdout: "", problem: `no namespace ${call.netns}` };
    if (netns.links.has(ifname)) return { stdout: "", problem: `${ifname} exists already` };
    const leases = kernel.leasesOf(config.name);
    const address = freeAddress(leases);
    if (address === undefined) return { stdout: "", problem: `no free address in ${config.name}` };
    leases.set(address, { address, containerId, ifname, sinceWallMs: time.wallMs });
    kernel.addLink(netns, ifname, `${config.name}/${address}`);
    machine?.flood(leases.size);
    say({ kind: "effect", node, verb: "ADD", network: config.name, containerId, ifname, address });
    return { stdout: resultText(call, address), problem: undefined };
  }

  #delete({ containerId, ifname, config, netns }: PluginCall): void {
    const { kernel, node, say } = this.#needs;
    kernel.removeLink(netns, ifname);
    const leases = kernel.leasesOf(config.name);
    const address = addressOf(leases, containerId, ifname) ?? "";
    leases.delete(address);
    say({ kind: "effect", node, verb: "DEL", network: config.name, containerId, ifname, address });
  }
}

function addressOf(leases: ReadonlyMap<string, SimLease>, containerId: string, ifname: string): string | undefined {
  for (const lease of leases.values())
    if (lease.containerId === containerId && lease.ifname === ifname) return lease.address;
  return undefined;
}

function freeAddress(leases: ReadonlyMap<string, unknown>): string | undefined {
  return addresses.find((address) => !leases.has(address));
}

function resultText({ config, ifname, netns }: PluginCall, address: string): string {
  return JSON.stringify({
    cniVersion: config.cniVersion,
    interfaces: [{ name: ifname, mac: "02:00:00:00:00:01", sandbox: netns }],
    ips: [{ interface: 0, address: `${address}/22` }],
  });
}

function errorText(message: string): string {
  return JSON.stringify({ cniVersion: "1.0.0", code: 999, msg: message });
}
