import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../lab/free-port.ts";
import { until } from "./alertmanager.ts";

/** A real Prometheus in a temporary folder, with the samples that it is given and those that it scrapes. */
export class RealPrometheus {
  readonly url: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, end: () => Promise<void>) {
    this.url = url;
    this.#end = end;
  }

  /** `history`: lines of OpenMetrics with times, without the last one. */
  static async start(config: object, history: readonly string[]): Promise<RealPrometheus> {
    const folder = await mkdtemp(join(tmpdir(), "levee-prometheus-"));
    const data = join(folder, "tsdb");
    if (history.length > 0) await remember(history, join(folder, "history"), data);
    const file = join(folder, "prometheus.yml");
    // JSON is YAML.
    await writeFile(file, JSON.stringify(config));
    const port = await freePort();
    const args = [`--config.file=${file}`, `--storage.tsdb.path=${data}`, `--web.listen-address=127.0.0.1:${port}`];
    const child = spawn("prometheus", args, { stdio: "ignore" });
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    return new RealPrometheus(`http://127.0.0.1:${port}`, async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
  }

  async untilReady(): Promise<void> {
    await until("Prometheus is ready", () =>
      fetch(`${this.url}/-/ready`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      ),
    );
  }

  async end(): Promise<void> {
    await this.#end();
  }
}

async function remember(lines: readonly string[], file: string, folder: string): Promise<void> {
  await writeFile(file, `${[...lines, "# EOF"].join("\n")}\n`);
  const args = ["tsdb", "create-blocks-from", "openmetrics", file, folder];
  const { status, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`promtool failed: ${stderr}`);
}
