import { createServer } from "node:http";
import { freePort } from "../../lab/free-port.ts";

/** The answers of nodes' daemons to the guard, one for each address of 127.0.0.0/8: what they say of marks is set by the test. */
export class StandInDaemons implements Disposable {
  readonly port: number;
  /** Since when the node at this address has needed a reboot, in milliseconds since 1970. */
  readonly marks = new Map<string, number>();
  readonly #server;

  private constructor(port: number) {
    this.port = port;
    this.#server = createServer((request, response) => {
      const sinceMs = this.marks.get(request.socket.localAddress?.replace(/^::ffff:/u, "") ?? "");
      const lines = ["levee_waiting 0", `levee_node_reboot_required{node="x"} ${sinceMs === undefined ? 0 : 1}`];
      if (sinceMs !== undefined)
        lines.push(`levee_node_reboot_required_since_timestamp_seconds{node="x"} ${sinceMs / 1_000}`);
      response.end(`${lines.join("\n")}\n`);
    });
  }

  static async start(): Promise<StandInDaemons> {
    const daemons = new StandInDaemons(await freePort());
    await new Promise<void>((resolve) => daemons.#server.listen(daemons.port, "0.0.0.0", resolve));
    return daemons;
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
