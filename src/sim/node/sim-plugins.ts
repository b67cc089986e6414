import type { Seeded } from "../time/seeded.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { SimListener } from "./sim-event.ts";
import type { SimKernel, SimSession } from "./sim-kernel.ts";

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
}

/** A run that goes on. */
export interface StartedPlugin {
  /** Kills it, unless it has ended. */
  kill(): void;
}

interface PluginsNeeds {
  readonly node: string;
  readonly time: SimTime;
  readonly seeded: Seeded;
  readonly kernel: SimKernel;
  readonly say: SimListener;
}

const killSignal = 9;
/** Addresses of one network, as many as a /22 has. */
const addressesMax = 1_020;
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
    const { time, seeded, node, say } = this.#needs;
    say({ kind: "run", node, verb: call.verb, network: call.config.name, containerId: call.containerId });
    const temper = this.temperOf(call.config.name);
    const beganMs = time.nowMs;
    const takesMs = temper.hangs ? Number.POSITIVE_INFINITY : temper.costMs * seeded.between(0.5, 2);
    const isHalf = call.verb === "ADD" && seeded.chance(temper.halfDoneShare);
    const fails = seeded.chance(temper.failShare) || (call.verb === "DEL" && temper.delFails);
    let problem = fails ? `simulated failure of ${call.config.name}` : undefined;
    let stdout = "";
    this.running += 1;
    const cancels = [
      time.after(takesMs * seeded.between(effectShare.min, effectShare.max), () => {
        if (problem !== undefined) return;
        const outcome = this.#act(call);
        problem = isHalf ? "simulated failure after half of the work" : outcome.problem;
        stdout = outcome.stdout;
      }),
      time.after(takesMs, () =>
        end(problem === undefined ? { exitCode: 0, stdout } : { exitCode: 1, stdout: errorText(problem) }),
      ),
      time.after(call.timeoutMs, () => end({ signal: killSignal, stdout: "", isTimedOut: true })),
    ];
    const kill = (): void => end({ signal: killSignal, stdout: "" });
    const end = (how: Partial<PluginEnd> & { readonly stdout: string }): void => {
      if (!session.plugins.delete(kill)) return;
      for (const cancel of cancels) cancel();
      this.running -= 1;
      onEnd({ isTimedOut: false, tookMs: time.nowMs - beganMs, ...how });
    };
    session.plugins.add(kill);
    return { kill };
  }

  #act(call: PluginCall): { readonly stdout: string; readonly problem: string | undefined } {
    if (call.verb === "ADD") return this.#add(call);
    if (call.verb === "DEL") this.#delete(call);
    return { stdout: "", problem: undefined };
  }

  #add(call: PluginCall): { readonly stdout: string; readonly problem: string | undefined } {
    const { kernel, time, node, say } = this.#needs;
    const { containerId, ifname, config } = call;
    const netns = kernel.netns.get(call.netns);
    if (netns === undefined) return { stdout: "", problem: `no namespace ${call.netns}` };
    if (netns.links.has(ifname)) return { stdout: "", problem: `${ifname} exists already` };
    const leases = kernel.leasesOf(config.name);
    const address = freeAddress(leases);
    if (address === undefined) return { stdout: "", problem: `no free address in ${config.name}` };
    leases.set(address, { containerId, ifname, sinceWallMs: time.wallMs });
    netns.links.set(ifname, `${config.name}/${address}`);
    say({ kind: "effect", node, verb: "ADD", network: config.name, containerId, ifname, address });
    return { stdout: resultText(call, address), problem: undefined };
  }

  #delete({ containerId, ifname, config, netns }: PluginCall): void {
    const { kernel, node, say } = this.#needs;
    kernel.netns.get(netns)?.links.delete(ifname);
    const leases = kernel.leasesOf(config.name);
    const held = [...leases].find(([, lease]) => lease.containerId === containerId && lease.ifname === ifname);
    if (held !== undefined) leases.delete(held[0]);
    say({ kind: "effect", node, verb: "DEL", network: config.name, containerId, ifname, address: held?.[0] ?? "" });
  }
}

function freeAddress(leases: ReadonlyMap<string, unknown>): string | undefined {
  for (let number = 2; number < addressesMax; number += 1) {
    const address = `10.1.${number >> 8}.${number & 255}`;
    if (!leases.has(address)) return address;
  }
  return undefined;
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
