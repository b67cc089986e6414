import { readFileSync } from "node:fs";
import { join } from "node:path";
import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { freePort } from "../../lab/free-port.ts";
import { mergePatch, type PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";
import { startGateCluster } from "./gate-cluster.ts";

export interface MeasuredGuardOptions {
  readonly name: string;
  readonly server: PolicyServer;
  readonly folder: string;
  /** Of the nodes' daemons. */
  readonly daemonPort: number;
  readonly more: readonly string[];
  /** dist/levee unless told. */
  readonly program?: string | undefined;
}

export interface GuardMemory {
  readonly rssKib: number;
  readonly anonymousKib: number;
}

/** Three nodes, of which a daemon at 127.0.0.1 answers for n1 and one at 127.0.0.2 for the others. */
export async function startMeasuredCluster(): Promise<PolicyServer> {
  const server = await startGateCluster(["n1", "n2", "n3"]);
  for (const node of ["n2", "n3"]) {
    const status = { addresses: [{ type: "InternalIP", address: "127.0.0.2" }] };
    await server.ask({ method: "PATCH", path: `/api/v1/nodes/${node}/status`, type: mergePatch, body: { status } });
  }
  return server;
}

/** The compiled guard as its image runs it, leading. */
export class MeasuredGuard {
  readonly server: PolicyServer;
  readonly program: Program;
  readonly #metricsUrl: string;

  private constructor(server: PolicyServer, program: Program, metricsUrl: string) {
    this.server = server;
    this.program = program;
    this.#metricsUrl = metricsUrl;
  }

  static async start(options: MeasuredGuardOptions): Promise<MeasuredGuard> {
    const { name, server, folder, daemonPort, more } = options;
    const program = options.program ?? join(import.meta.dir, "../../../dist/levee");
    // Longer than any run.
    const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=12h"]).trim();
    const metricsPort = await freePort();
    const places = ["--daemon-port", String(daemonPort), "--metrics-port", String(metricsPort)];
    const login = ["--kubeconfig", await server.kubeconfig(token), "--git-folder", join(folder, `git-${name}`)];
    const guard = new Program(folder, `guard-${name}`, {
      command: [program, "guard", ...login, ...places, ...more],
      env: { ...daemonEnv },
    });
    guard.start();
    const one = new MeasuredGuard(server, guard, `http://127.0.0.1:${metricsPort}/metrics`);
    await guard.untilUp("leads", async () => (await one.metric("levee_guard_leader")) === "1");
    return one;
  }

  /** The value of the first series that begins like this; undefined when there is none. */
  async metric(begin: string): Promise<string | undefined> {
    const text = await (await fetch(this.#metricsUrl)).text();
    return text
      .split("\n")
      .find((line) => line.startsWith(begin))
      ?.split(" ")
      .at(-1);
  }

  memory(): GuardMemory {
    const text = readFileSync(`/proc/${this.program.pid}/smaps_rollup`, "utf8");
    const kib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "mu").exec(text)?.[1]);
    return { rssKib: kib("Rss"), anonymousKib: kib("Anonymous") };
  }
}
