import type { LogFields, Logger } from "../../base/log.ts";
import { toLeveeError } from "../../base/errors.ts";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { composeCalls, type CallParts } from "../../daemon/compose-calls.ts";
import { composeGround, type Ground } from "../../daemon/compose-ground.ts";
import { composePlug } from "../../daemon/compose-plug.ts";
import { MetricsRegistry } from "../../daemon/metrics/metrics-registry.ts";
import type { Service } from "../../daemon/service.ts";
import { shutDown } from "../../daemon/shutdown.ts";
import { openCluster, type KubeSource } from "../../daemon/source/kube-source.ts";
import { startStatusRepair } from "../../daemon/tell/status-repair.ts";
import { fixedAccess } from "../../kube/access/access.ts";
import type { SimApi } from "../api/sim-api.ts";
import { SimApiClient } from "../api/sim-api-client.ts";
import type { SimProcess } from "../time/sim-process.ts";
import type { SimNode } from "./sim-node.ts";
import "./late-parts.ts";

const software = "levee simulated";
/** The pauses of the kubelet before it starts a container again. */
const restartMs = [1_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000];
/** As the daemon: it looks at its load once a second. */
const loadMs = 1_000;
const memoryMs = 20;
/** A container that ran so long starts again without a pause. */
const goodRunMs = 600_000;

interface DaemonNeeds {
  readonly node: SimNode;
  readonly api: SimApi;
  /** More settings of daemon-config.json. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Pauses before restarts, instead of the kubelet's. */
  readonly restartMs?: readonly number[];
}

/** The parts of a daemon that is ready. */
interface RunningParts {
  readonly ground: Ground;
  readonly parts: CallParts;
  readonly source: KubeSource;
  readonly services: readonly Service[];
  readonly plug: Service;
}

/** A daemon on a simulated node, of Levee or of another, and the kubelet that starts it again. */
export interface NodeDaemon {
  /** The parts of Levee's daemon, while it is ready. */
  readonly running: RunningParts | undefined;
  start(): void;
  kill(): void;
  stop(): Promise<void>;
  cutPower(): void;
}

/** The daemon's own code on a simulated node, and the kubelet that starts it again after each end. */
export class SimDaemon implements NodeDaemon {
  readonly #needs: DaemonNeeds;
  #process: SimProcess | undefined;
  #running: RunningParts | undefined;
  #startedMs = 0;
  #ends = 0;

  constructor(needs: DaemonNeeds) {
    this.#needs = needs;
  }

  /** Undefined while it is not ready. */
  get running(): RunningParts | undefined {
    return this.#running;
  }

  start(): void {
    const { node } = this.#needs;
    const process = node.kernel.newProcess("daemon");
    this.#process = process;
    this.#startedMs = node.time.nowMs;
    node.daemonStarts(process);
    this.#tell("starts");
    this.#compose(process).then(
      (running) => {
        this.#running = running;
        this.#tell("is ready");
      },
      (thrown: unknown) => {
        if (!process.isAlive) return;
        this.#tell(`cannot start: ${toLeveeError(thrown, "Starting").message}`);
        this.kill();
      },
    );
  }

  /** As by SIGKILL. The kubelet starts it again. */
  kill(): void {
    if (this.#process?.isAlive !== true) return;
    this.#tell("is killed");
    this.#end();
    this.#startAgain();
  }

  /** As by SIGTERM: it ends in order, and the kubelet starts the next one. */
  async stop(): Promise<void> {
    const { node } = this.#needs;
    const [running, process] = [this.#running, this.#process];
    if (running === undefined || process === undefined) return;
    this.#tell("is asked to end");
    const { ground, parts, source, services, plug } = running;
    await shutDown({
      ...ground,
      ...parts.undo,
      ...parts,
      servers: [parts.server],
      services,
      plug,
      // No story asks for one.
      dryRuns: { stop: noop },
      source,
      lock: { [Symbol.dispose]: noop },
    });
    if (!process.isAlive) return;
    this.#tell("has ended");
    this.#end();
    node.time.after(restartMs[0] ?? 0, () => {
      // Not when the power was cut meanwhile: the next boot starts it.
      if (this.#process === process) this.start();
    });
  }

  /** The power is cut. Nothing starts before the next boot. */
  cutPower(): void {
    this.#end();
    this.#process = undefined;
    this.#ends = 0;
  }

  #end(): void {
    this.#running = undefined;
    this.#needs.node.daemonEnds();
  }

  #startAgain(): void {
    const { time } = this.#needs.node;
    if (time.nowMs - this.#startedMs >= goodRunMs) this.#ends = 0;
    const pauses = this.#needs.restartMs ?? restartMs;
    const pauseMs = pauses[Math.min(this.#ends, pauses.length - 1)] ?? 0;
    this.#ends += 1;
    const mine = this.#process;
    time.after(pauseMs, () => {
      if (this.#process === mine) this.start();
    });
  }

  async #compose(process: SimProcess): Promise<RunningParts> {
    const { node, api, settings } = this.#needs;
    const { kernel, name, machine } = node;
    await new Promise<void>((resolve) => {
      if (machine?.daemon === undefined) resolve();
      else machine.daemon.run(machine.model.daemon.startCpuMs, resolve);
    });
    const logger = this.#logger(process);
    const config = parseDaemonConfig(JSON.stringify({ ...placesOf(node), ...settings }), `/${name}/daemon-config.json`);
    const metrics = new MetricsRegistry();
    const access = fixedAccess("http://localhost");
    const common = { config, clock: process, logger, metrics };
    const source = openCluster({
      ...common,
      access,
      nodeName: name,
      namespace: "levee-system",
      api: new SimApiClient(api, process, { node: name }),
    });
    const boot = { id: kernel.bootId, beganWallMs: () => Promise.resolve(kernel.bootWallMs) };
    const cluster = { nodeName: name, service: undefined };
    const ground = await composeGround({ ...common, software, cluster, boot }, source, metrics);
    this.#bearLoad(process, ground);
    const parts = composeCalls(ground, { software, answer: () => ({}), bind: node.bind });
    await parts.undo.afterwork.repairMirror();
    await parts.start();
    const services = [parts.collect.start(), startStatusRepair(ground)];
    const plug = composePlug(ground, parts.undo, parts.accounts).start();
    return { ground, parts, source, services, plug };
  }

  /** Admission hears of the load, and the kernel kills a daemon that is too large. */
  #bearLoad(process: SimProcess, { admission }: Ground): void {
    const { machine } = this.#needs.node;
    if (machine === undefined) return;
    process.every(loadMs, () => admission.observe(machine.load));
    process.every(memoryMs, () => {
      if (!machine.isOutOfMemory) return;
      machine.oomKills += 1;
      this.#tell("is out of memory");
      this.kill();
    });
  }

  #logger(process: SimProcess): Logger {
    const { name, say } = this.#needs.node;
    const write =
      (level: string) =>
      (message: string, fields: LogFields = {}): void => {
        if (process.isAlive) say({ kind: "log", node: name, level, text: `${message} ${JSON.stringify(fields)}` });
      };
    return { debug: noop, info: write("info"), warn: write("warn"), error: write("error") };
  }

  #tell(what: string): void {
    const { name, say } = this.#needs.node;
    say({ kind: "daemon", node: name, what });
  }
}

function noop(): void {
  // Nothing holds a lock or reads debug lines here.
}

function placesOf({ name, stateDir, runtimeDir }: SimNode): Readonly<Record<string, unknown>> {
  return {
    stateDir,
    runtimeCniDir: runtimeDir,
    cniDir: `/${name}/multus`,
    socketDir: `/${name}/run`,
    binDir: "/opt/cni/bin",
  };
}
