import type { PolicyServer } from "../policy-server.ts";

/** How often it makes another one, as the seeds' operator did: 3.7 a minute. */
const everyMs = 16_000;
/** Before the first of them: what waits for five minutes when the guard looks are the 219 and nothing else. */
const firstMs = 45_000;
/** How often one that is refused tries again. */
const refusedMs = 1_000;

/** The operator that caused the outage: with its own account it makes pods without an owner, and goes on whatever happens. */
export class Operator {
  readonly #server: PolicyServer;
  readonly #namespace: string;
  readonly #token: string;
  #isStopped = false;
  #ended: Promise<void> = Promise.resolve();
  made = 0;
  /** How often the API server refused. */
  refused = 0;
  lastRefusal = "";

  private constructor(server: PolicyServer, namespace: string, token: string) {
    this.#server = server;
    this.#namespace = namespace;
    this.#token = token;
  }

  /** Its account may make pods in its namespace and nothing else. */
  static make(server: PolicyServer, namespace: string): Operator {
    const inside = ["-n", namespace];
    server.must([...inside, "create", "serviceaccount", "remotedesktop"]);
    server.must([...inside, "create", "role", "remotedesktop", "--verb=create,get,list", "--resource=pods"]);
    const account = `--serviceaccount=${namespace}:remotedesktop`;
    server.must([...inside, "create", "rolebinding", "remotedesktop", "--role=remotedesktop", account]);
    const token = server.must([...inside, "create", "token", "remotedesktop", "--duration=1h"]).trim();
    return new Operator(server, namespace, token);
  }

  /** Several at once, each already on its node as that operator does it. */
  async burst(count: number, nodes: readonly string[]): Promise<void> {
    const next = Array.from({ length: count }, (_, index) => nodes[index % nodes.length] ?? "");
    while (next.length > 0) await Promise.all(next.splice(0, 80).map((node) => this.#create(node)));
    if (this.made < count) throw new Error(`The operator could make ${this.made} of ${count}: ${this.lastRefusal}`);
  }

  goOn(nodes: readonly string[]): void {
    this.#ended = this.#keepCreating(nodes);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #keepCreating(nodes: readonly string[]): Promise<void> {
    await this.#wait(firstMs);
    for (let count = 0; !this.#isStopped; count += 1) {
      const before = this.made;
      await this.#create(nodes[count % nodes.length] ?? "").catch(() => undefined);
      await this.#wait(this.made > before ? everyMs : refusedMs);
    }
  }

  async #wait(ms: number): Promise<void> {
    for (let waited = 0; waited < ms && !this.#isStopped; waited += 250) await Bun.sleep(250);
  }

  async #create(node: string): Promise<void> {
    const { code, text } = await this.#server.ask({
      method: "POST",
      path: `/api/v1/namespaces/${this.#namespace}/pods`,
      token: this.#token,
      body: desktopPod({ generateName: "rd-browser-only-" }, node),
    });
    if (code === 201) {
      this.made += 1;
      return;
    }
    this.refused += 1;
    this.lastRefusal = text;
  }
}

/** One pod as that operator makes them. */
export function desktopPod(metadata: object, node: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { labels: { app: "rd-browser-only" }, ...metadata },
    spec: { nodeName: node, containers: [{ name: "desktop", image: "example.com/desktop:1" }] },
  };
}
