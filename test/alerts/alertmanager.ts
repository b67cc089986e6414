import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../lab/free-port.ts";

export type Labels = Readonly<Record<string, string>>;

/** An alert as Alertmanager tells it, as far as we look. */
export interface SentAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly fingerprint: string;
  readonly status: { readonly inhibitedBy: readonly string[] };
}

/** A real Alertmanager in a temporary folder. It sends to no receiver unless its configuration names one. */
export class Alertmanager {
  readonly url: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, end: () => Promise<void>) {
    this.url = url;
    this.#end = end;
  }

  /** `host`: where it listens; loopback unless others must reach it. */
  static async start(config: object, host = "127.0.0.1"): Promise<Alertmanager> {
    const folder = await mkdtemp(join(tmpdir(), "levee-alertmanager-"));
    const port = await freePort();
    // JSON is YAML.
    await writeFile(join(folder, "config.yml"), JSON.stringify(config));
    const args = [
      `--config.file=${join(folder, "config.yml")}`,
      `--storage.path=${join(folder, "data")}`,
      `--web.listen-address=${host}:${port}`,
      "--cluster.listen-address=",
    ];
    const child = spawn("prometheus-alertmanager", args, { stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    const manager = new Alertmanager(`http://${host}:${port}`, async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
    try {
      await until(`Alertmanager answers; it said: ${log}`, () =>
        fetch(`${manager.url}/-/ready`).then(
          ({ ok }) => ok || undefined,
          () => undefined,
        ),
      );
    } catch (thrown) {
      await manager.end();
      throw new Error(`Alertmanager did not start: ${log}`, { cause: thrown });
    }
    return manager;
  }

  async post(alerts: readonly Labels[]): Promise<void> {
    await this.#send(alerts.map((labels) => ({ labels })));
  }

  /** Ends alerts that fire. */
  async resolve(alerts: readonly Labels[]): Promise<void> {
    const endsAt = new Date().toISOString();
    await this.#send(alerts.map((labels) => ({ labels, endsAt })));
  }

  async #send(alerts: readonly object[]): Promise<void> {
    const body = JSON.stringify(alerts);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${this.url}/api/v2/alerts`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`Alertmanager refused the alerts: ${answer.status} ${await answer.text()}`);
  }

  async alerts(): Promise<readonly SentAlert[]> {
    return (await fetch(`${this.url}/api/v2/alerts`)).json() as Promise<readonly SentAlert[]>; // Alertmanager's own API
  }

  end(): Promise<void> {
    return this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/** Waits until `look` finds something; fails with what was waited for. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, timeoutMs = 20_000): Promise<T> {
  const endsMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endsMs) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
