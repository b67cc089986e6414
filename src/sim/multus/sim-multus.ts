import { isObject, objectOf, textOf } from "../../kube/client/json-fields.ts";
import { networksAnnotation } from "../../base/annotations.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimMachine } from "../machine/sim-machine.ts";
import { callIfname, type SimCall } from "../node/sim-call.ts";
import type { SimSession } from "../node/sim-kernel.ts";
import type { NodeDaemon } from "../node/sim-daemon.ts";
import type { SimNode } from "../node/sim-node.ts";
import type { PluginCall } from "../node/sim-plugins.ts";
import { MultusApi } from "./multus-api.ts";
import { Threads } from "./threads.ts";

/** The kubelet's pauses before it starts the container again. */
const restartMs = [1_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000];
const memoryMs = 20;
/** A container that ran so long starts again after the first pause. */
const goodRunMs = 600_000;

interface MultusNeeds {
  readonly node: SimNode;
  readonly machine: SimMachine;
  readonly api: SimApi;
  /** Requests that it serves at once; undefined for any number. */
  readonly connectionLimit: number | undefined;
}

interface Request {
  readonly call: SimCall;
  readonly onAnswer: (exitCode: number | undefined) => void;
}

/**
 * A thick Multus as its manifest runs it: it serves every connection at once, runs the plugins in its own cgroup, and when
 * the kernel kills one of them, all of them die.
 */
export class SimMultus implements NodeDaemon {
  /** It has no parts of ours. */
  readonly running = undefined;
  readonly #needs: MultusNeeds;
  #session: SimSession | undefined;
  #threads: Threads | undefined;
  #requests: MultusApi | undefined;
  /** Accepted and not answered. */
  #served = new Set<Request>();
  #waiting: Request[] = [];
  #startedMs = 0;
  #restarts = 0;

  constructor(needs: MultusNeeds) {
    this.#needs = needs;
  }

  get isUp(): boolean {
    return this.#threads !== undefined;
  }

  start(): void {
    const { node, machine, api } = this.#needs;
    const session = node.kernel.newSession("multus");
    this.#session = session;
    this.#startedMs = node.time.nowMs;
    machine.daemonStarts();
    this.#tell("starts");
    machine.group.run(machine.model.multus.startCpuMs, () => {
      if (!session.process.isAlive) return;
      this.#threads = new Threads(machine.model.multus.threads, machine.group);
      this.#requests = new MultusApi(api, session.process);
      this.#requests.start();
      this.#tell("is ready");
    });
    session.process.every(memoryMs, () => {
      if (machine.isOutOfMemory) this.#dieOfMemory();
    });
  }

  kill(): void {
    if (this.#session?.process.isAlive !== true) return;
    this.#tell("is killed");
    this.#end();
    this.#startAgain();
  }

  /** It does not end in order: what runs is lost, as by a kill. */
  stop(): Promise<void> {
    this.kill();
    return Promise.resolve();
  }

  cutPower(): void {
    this.#end();
    this.#restarts = 0;
  }

  /** Undefined as the answer: the connection broke. A request whose shim is gone runs to its end. */
  ask(call: SimCall, onAnswer: Request["onAnswer"]): void {
    const { machine, connectionLimit = Number.POSITIVE_INFINITY } = this.#needs;
    const request = { call, onAnswer };
    if (this.#served.size >= connectionLimit) {
      this.#waiting.push(request);
      return;
    }
    this.#served.add(request);
    machine.calls += 1;
    void this.#serve(request);
  }

  #dieOfMemory(): void {
    this.#needs.machine.oomKills += 1;
    this.#tell("is out of memory");
    this.#end();
    this.#startAgain();
  }

  #end(): void {
    const { node, machine } = this.#needs;
    const session = this.#session;
    const lost = [...this.#served, ...this.#waiting];
    this.#threads?.end();
    this.#threads = undefined;
    this.#served = new Set();
    this.#waiting = [];
    session?.process.kill();
    for (const stop of [...(session?.plugins ?? [])]) stop();
    if (session !== undefined) node.kernel.endSession(session);
    machine.daemonEnds();
    for (const { onAnswer } of lost) onAnswer(undefined);
  }

  #startAgain(): void {
    const { node } = this.#needs;
    const ended = this.#session;
    if (node.time.nowMs - this.#startedMs >= goodRunMs) this.#restarts = 0;
    const pauseMs = restartMs[Math.min(this.#restarts, restartMs.length - 1)] ?? 0;
    this.#restarts += 1;
    node.time.after(pauseMs, () => {
      if (this.#session === ended) this.start();
    });
  }

  async #serve(request: Request): Promise<void> {
    const { machine } = this.#needs;
    const session = this.#session;
    const exitCode = await this.#carryOut(request.call, session);
    if (session === undefined || !this.#served.delete(request)) return;
    machine.calls -= 1;
    request.onAnswer(exitCode);
    const next = this.#waiting.shift();
    if (next !== undefined) this.ask(next.call, next.onAnswer);
  }

  async #carryOut(call: SimCall, session: SimSession | undefined): Promise<number> {
    const networks = this.#networksOf(call);
    const numbered = networks.map((network, number) => ({
      network,
      ifname: number === 0 ? callIfname : `net${number}`,
    }));
    if (call.verb === "ADD") return await this.#attach(call, numbered, session);
    // A DEL goes on with the others, and its error is kept from the runtime.
    for (const one of numbered.toReversed()) await this.#runOne({ call, ...one, session }, networks.length);
    return 0;
  }

  async #attach(
    call: SimCall,
    networks: readonly Pick<PluginRun, "network" | "ifname">[],
    session: SimSession | undefined,
  ): Promise<number> {
    const requests = this.#requests;
    for (const one of networks) {
      if ((await this.#runOne({ call, ...one, session }, networks.length)) !== 0) return 1;
      requests?.tellEvents(1);
    }
    return (await requests?.tellStatus()) === true ? 0 : 1;
  }

  async #runOne(run: PluginRun, networks: number): Promise<number> {
    await this.#think(this.#needs.machine.model.multus.requestCpuMs / networks);
    return await this.#runPlugin(run);
  }

  #think(cpuMs: number): Promise<void> {
    const { machine } = this.#needs;
    return new Promise((resolve) => this.#threads?.run(machine.thinkMs(cpuMs), resolve));
  }

  #runPlugin({ call, network, ifname, session }: PluginRun): Promise<number> {
    const config = { name: network, type: "bridge", cniVersion: "1.0.0" };
    const { verb, containerId, netns } = call;
    const timeoutMs = Number.POSITIVE_INFINITY;
    const plugin: PluginCall = { verb, containerId, netns, ifname, config, timeoutMs };
    return new Promise((resolve) => {
      if (session?.process.isAlive !== true) return;
      this.#needs.node.plugins.start(plugin, session, ({ exitCode = 1 }) => {
        if (session.process.isAlive) resolve(exitCode);
      });
    });
  }

  /** The default network first. */
  #networksOf({ cniArgs, config }: SimCall): readonly string[] {
    const args = new Map(cniArgs.split(";").map((pair) => [pair.split("=")[0] ?? "", pair.split("=")[1] ?? ""]));
    const pod = this.#needs.api.get("pods", `${args.get("K8S_POD_NAMESPACE")}/${args.get("K8S_POD_NAME")}`);
    const annotations = objectOf(objectOf(pod?.["metadata"])["annotations"]);
    const wanted = textOf(annotations[networksAnnotation]) ?? "";
    const delegates = objectOf(JSON.parse(config))["delegates"];
    const [first] = Array.isArray(delegates) ? (delegates as readonly unknown[]) : [];
    const primary = isObject(first) ? (textOf(first["name"]) ?? "") : "";
    const others = wanted.split(",").filter((name) => name !== "");
    return [primary, ...others.map((name) => name.slice(name.indexOf("/") + 1))];
  }

  #tell(what: string): void {
    const { name, say } = this.#needs.node;
    say({ kind: "daemon", node: name, what });
  }
}

interface PluginRun {
  readonly call: SimCall;
  readonly network: string;
  readonly ifname: string;
  readonly session: SimSession | undefined;
}
