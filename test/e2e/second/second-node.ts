import { spawn, type ChildProcessByStdio } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { apartCommand } from "../apart.ts";
import type { Cluster } from "../cluster.ts";
import { nodeLink } from "../machine.ts";
import { apiHost, apiPort } from "../node/api-server.ts";
import type { NodePrograms } from "../node/cluster-node.ts";
import { nodes, secondNodeVariable } from "../node/which-node.ts";
import { run } from "../run.ts";
import type { Deeds } from "./node-deeds.ts";

/** What the first node asks of the second, and what it hears: a line of JSON each. */
export interface Asked {
  readonly id: number;
  readonly deed: keyof Deeds;
  readonly args: readonly unknown[];
}
export type Answer = { readonly id: number } & ({ readonly value: unknown } | { readonly failure: string });

type Result<K extends keyof Deeds> = Awaited<ReturnType<Deeds[K]>>;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A second node of the cluster: the same programs as on the first, in namespaces of their own, with a cable to the first
 * node's bridge. All that is done there is done by a process of its own, for which it is the only node.
 */
export class SecondNode {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #apiDoor: Server;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>, apiDoor: Server) {
    this.#child = child;
    this.#apiDoor = apiDoor;
    createInterface({ input: child.stdout }).on("line", (line) => this.#heard(JSON.parse(line) as Answer));
    child.on("exit", () => this.#lost());
  }

  static async start(cluster: Cluster, programs: NodePrograms): Promise<SecondNode> {
    const { machine, caFile } = cluster;
    const network = machine.path("second-network");
    layCable(network);
    const script = join(import.meta.dirname, "second-node-process.ts");
    const [program, ...args] = apartCommand([process.execPath, script], network);
    const env = { ...process.env, [secondNodeVariable]: "1" };
    const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
    const node = new SecondNode(child, await openApiDoor());
    const folders = { folder: machine.path("second"), logFolder: join(machine.logFolder, "second") };
    await node.do("join", { ...folders, programs, caFile });
    return node;
  }

  do<K extends keyof Deeds>(deed: K, ...args: Parameters<Deeds[K]>): Promise<Result<K>> {
    this.#asked += 1;
    const asked: Asked = { id: this.#asked, deed, args };
    return new Promise<Result<K>>((resolve, reject) => {
      // The process answers with what the deed of this name returned.
      this.#waiting.set(asked.id, { resolve: (value) => resolve(value as Result<K>), reject });
      this.#child.stdin.write(`${JSON.stringify(asked)}\n`);
    });
  }

  /** With the process everything goes that runs on the node. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.on("exit", resolve));
    this.#child.stdin.end();
    await ended;
    this.#apiDoor.close();
  }

  #heard(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("failure" in answer) waiting?.reject(new Error(`On the second node: ${answer.failure}`));
    else waiting?.resolve(answer.value);
  }

  #lost(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error("The process of the second node has ended"));
    this.#waiting.clear();
  }
}

/** A network namespace, kept by a file, with one end of a cable; the other is a port of the first node's bridge. */
function layCable(file: string): void {
  const port = "second0";
  writeFileSync(file, "");
  run("unshare", `--net=${file}`, "true");
  // The first process is in the namespace of the first node.
  const peer = ["peer", "name", port, "netns", "1"];
  run("nsenter", `--net=${file}`, "ip", "link", "add", nodeLink, "type", "veth", ...peer);
  run("ip", "link", "set", port, "master", nodeLink, "up");
}

/** The API server listens at the first node's loopback only. */
async function openApiDoor(): Promise<Server> {
  const server = createServer((outside) => {
    const inside = connect(Number(apiPort), apiHost);
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] satisfies (readonly [Socket, Socket])[]) {
      from.pipe(to);
      // Either end may go at any time.
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(Number(apiPort), nodes[0].address, resolve);
  });
  return server;
}
