import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { FleetAnswer, FleetOrder, FleetQuestion, Seen } from "./fleet-words.ts";

/** Two cores take no more at once. */
const processes = 2;

/** The API side of many nodes' daemons, in some processes. */
export class DaemonFleet {
  readonly #children: readonly ChildProcess[];
  readonly #waiting = new Map<number, (answer: FleetAnswer) => void>();
  #ids = 0;
  #isStopped = false;

  private constructor() {
    const program = join(import.meta.dir, "daemons-process.ts");
    this.#children = Array.from({ length: processes }, () => fork(program, [], { execPath: process.execPath }));
    for (const child of this.#children) {
      child.on("message", ({ id, told }: { id: number; told: FleetAnswer }) => {
        this.#waiting.get(id)?.(told);
        this.#waiting.delete(id);
      });
      child.on("exit", (code) => {
        if (!this.#isStopped) throw new Error(`A process with daemons ended with ${code}`);
      });
    }
  }

  /** Resolves when each node has its first lists. */
  static async start(order: FleetOrder): Promise<DaemonFleet> {
    const fleet = new DaemonFleet();
    const started = fleet.#children.map((child, at) => {
      const nodes = order.nodes.filter((_, number) => number % processes === at);
      return fleet.#ask(child, { ask: "start", order: { ...order, nodes } });
    });
    await Promise.all(started);
    return fleet;
  }

  get pids(): readonly number[] {
    return this.#children.flatMap(({ pid }) => pid ?? []);
  }

  async state(): Promise<FleetAnswer> {
    const all = await Promise.all(this.#children.map((child) => this.#ask(child, { ask: "state" })));
    return all.reduce(added);
  }

  stop(): void {
    this.#isStopped = true;
    for (const child of this.#children) child.kill("SIGKILL");
  }

  #ask(child: ChildProcess, question: Omit<FleetQuestion, "id">): Promise<FleetAnswer> {
    const id = (this.#ids += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      child.send({ ...question, id });
    });
  }
}

function added(left: FleetAnswer, right: FleetAnswer): FleetAnswer {
  const seen: Record<string, Seen> = { ...left.seen };
  for (const [mark, other] of Object.entries(right.seen)) {
    const one = seen[mark];
    seen[mark] =
      one === undefined
        ? other
        : {
            times: one.times + other.times,
            firstMs: Math.min(one.firstMs, other.firstMs),
            lastMs: Math.max(one.lastMs, other.lastMs),
          };
  }
  return {
    nodes: left.nodes + right.nodes,
    pods: left.pods + right.pods,
    networks: left.networks + right.networks,
    lists: left.lists + right.lists,
    reconnects: left.reconnects + right.reconnects,
    missedEvents: left.missedEvents + right.missedEvents,
    failing: left.failing + right.failing,
    seen,
  };
}
