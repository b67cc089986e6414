import type { LogFields, Logger } from "../../base/log.ts";
import { toLeveeError } from "../../base/errors.ts";
import { defaultGuardSettings } from "../../guard/facts/guard-settings.ts";
import type { GateSettings } from "../../guard/gate/gate-settings.ts";
import { runGuard } from "../../guard/run-guard.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimListener } from "../node/sim-event.ts";
import type { Seeded } from "../time/seeded.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { ApiServer } from "./api-server.ts";
import { alertmanagerUrl, type ClusterFleet } from "./cluster-fleet.ts";
import { GuardConnection, type ServerLink } from "./guard-connection.ts";
import { PausableProcess } from "./pausable-process.ts";
import { prometheusUrl } from "./sim-prometheus.ts";

interface GuardNeeds {
  readonly number: number;
  readonly api: SimApi;
  readonly server: ApiServer;
  readonly fleet: ClusterFleet;
  readonly time: SimTime;
  readonly seeded: Seeded;
  readonly say: SimListener;
  readonly gate: GateSettings;
}

/** The kubelet's pauses before it starts a container again. */
const restartMs = [1_000, 10_000, 20_000, 40_000];
/** Clocks of one cluster differ by seconds. */
const aheadMsMax = 2_000;
/** Nobody waits five minutes in a story. */
const stuckAfterMs = 60_000;
const daemonPort = 9_150;
/** No story lasts for the days after which raised memory goes down again. */
const calmForMs = Number.POSITIVE_INFINITY;
const settings = { ...defaultGuardSettings, stuckAfterMs, calmForMs, prometheus: { url: prometheusUrl } };

/** One replica of the guard, with the guard's own code, and the kubelet that starts it again after each end. */
export class SimGuard {
  readonly link: ServerLink = { isCut: false, lateShare: 0, lateMs: 0 };
  readonly #needs: GuardNeeds;
  readonly #seeded: Seeded;
  readonly #aheadMs: number;
  #process: PausableProcess | undefined;
  #starts = 0;

  constructor(needs: GuardNeeds) {
    this.#needs = needs;
    this.#seeded = needs.seeded.fork(this.name);
    this.#aheadMs = Math.round(this.#seeded.between(-aheadMsMax, aheadMsMax));
  }

  get name(): string {
    return `guard-${this.#needs.number}`;
  }

  /** Of the process that runs now. */
  get identity(): string {
    return `${this.name}-${this.#starts}`;
  }

  start(): void {
    const { api, server, fleet, time, gate } = this.#needs;
    this.#starts += 1;
    const process = new PausableProcess(time, this.#seeded.fork("process"), this.#aheadMs);
    this.#process = process;
    this.#tell("starts");
    const user = { account: "guard", name: this.identity } as const;
    const link = this.link;
    const connection = { api, server, time, process, user, link, seeded: this.#seeded.fork("way") };
    const options = {
      api: new GuardConnection(connection),
      clock: process,
      logger: this.#logger(process),
      settings,
      identity: this.identity,
      alertmanagers: [{ url: alertmanagerUrl }],
      daemonPort,
      gate,
      getText: fleet.getText,
    };
    runGuard(options, new AbortController().signal).then(
      () => this.#ended(process, "ends"),
      (thrown: unknown) => this.#ended(process, `ends: ${toLeveeError(thrown, "Running").message}`),
    );
  }

  /** As by SIGKILL. */
  kill(): void {
    if (this.#process?.isAlive === true) this.#ended(this.#process, "is killed");
  }

  pause(): void {
    this.#tell("stands still");
    this.#process?.pause();
  }

  resume(): void {
    this.#tell("goes on");
    this.#process?.resume();
  }

  #ended(process: PausableProcess, what: string): void {
    if (!process.isAlive) return;
    process.kill();
    this.#tell(what);
    const pauseMs = restartMs[Math.min(this.#starts - 1, restartMs.length - 1)] ?? 0;
    this.#needs.time.after(pauseMs, () => this.start());
  }

  #tell(what: string): void {
    this.#needs.say({ kind: "daemon", node: this.identity, what });
  }

  #logger(process: PausableProcess): Logger {
    const node = this.identity;
    const write =
      (level: string) =>
      (message: string, fields: LogFields = {}): void => {
        if (process.isAlive)
          this.#needs.say({ kind: "log", node, level, text: `${message} ${JSON.stringify(fields)}` });
      };
    return { debug: () => undefined, info: write("info"), warn: write("warn"), error: write("error") };
  }
}
