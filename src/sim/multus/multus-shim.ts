import type { SimCall } from "../node/sim-call.ts";
import type { SimSession } from "../node/sim-kernel.ts";
import type { SimNode } from "../node/sim-node.ts";
import type { RuntimeShim } from "../node/sim-runtime.ts";
import type { SimMultus } from "./sim-multus.ts";

/** An ADD asks so long whether the daemon is there. */
const reachMs = 60_000;

/** multus-shim: an ADD asks every 100 ms until the daemon is there; a DEL asks once, and then says that all is well. */
export class MultusShim implements RuntimeShim {
  readonly #node: SimNode;
  readonly #multus: SimMultus;
  readonly #call: SimCall;
  readonly #session: SimSession;
  onKilled: () => void = () => undefined;

  constructor(node: SimNode, multus: SimMultus, call: SimCall) {
    this.#node = node;
    this.#multus = multus;
    this.#call = call;
    this.#session = node.kernel.newSession(`multus-shim ${call.verb} ${call.containerId}`);
  }

  kill(): void {
    if (!this.#session.process.isAlive) return;
    this.#node.kernel.endSession(this.#session);
    this.onKilled();
  }

  async run(): Promise<number> {
    const exitCode = this.#call.verb === "ADD" ? await this.#add() : await this.#delete();
    this.#node.kernel.endSession(this.#session);
    return exitCode;
  }

  async #add(): Promise<number> {
    const { process } = this.#session;
    const untilMs = process.monotonicMs() + reachMs;
    const pollMs = this.#node.machine?.model.multus.pollMs ?? 0;
    while (!this.#multus.isUp) {
      if (process.monotonicMs() >= untilMs) return 1;
      await process.sleep(pollMs);
    }
    return (await this.#ask()) ?? 1;
  }

  async #delete(): Promise<number> {
    if (this.#multus.isUp) await this.#ask();
    return 0;
  }

  #ask(): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#multus.ask(this.#call, (exitCode) => {
        if (this.#session.process.isAlive) resolve(exitCode);
      });
    });
  }
}
