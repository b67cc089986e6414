import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../lab/free-port.ts";
import { Program } from "../program.ts";
import { until } from "../until.ts";

/** The storm was three hours ago, and longer than a scrape takes. */
const stormAgoSeconds = 3 * 3_600;
const stepSeconds = 60;
export const stormPeak = 219;

/** A real Prometheus with six hours of past in it: two nodes, and a storm in the middle. */
export class PastPrometheus {
  readonly port: number;
  readonly #program: Program;

  private constructor(port: number, program: Program) {
    this.port = port;
    this.#program = program;
  }

  static async start(folder: string, host: string): Promise<PastPrometheus> {
    const [data, port] = [join(folder, "prometheus"), await freePort()];
    await mkdir(data);
    await writeFile(join(folder, "past.txt"), past(Math.floor(Date.now() / 1_000)));
    const { status, stderr } = spawnSync(
      "promtool",
      ["tsdb", "create-blocks-from", "openmetrics", join(folder, "past.txt"), data],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`promtool cannot make the past: ${stderr}`);
    await writeFile(join(folder, "prometheus.yml"), "{}\n");
    const program = new Program(folder, "prometheus-server", {
      command: [
        ...["prometheus", `--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${data}`],
        ...[`--web.listen-address=${host}:${port}`, "--storage.tsdb.retention.time=30d"],
      ],
    });
    program.start();
    await until("Prometheus answers", async () => {
      if (!program.isRunning) throw new Error(program.logTail());
      const { ok } = await fetch(`http://${host}:${port}/-/ready`);
      return ok || undefined;
    });
    return new PastPrometheus(port, program);
  }

  async stop(): Promise<void> {
    await this.#program.stop();
  }
}

function past(nowSeconds: number): string {
  const lines: string[] = [];
  const series = [
    [`levee_waiting{node="n1",kind="attach",class="ordinary"}`, (ago: number) => (isStorm(ago) ? stormPeak - 19 : 0)],
    [`levee_waiting{node="n2",kind="attach",class="ordinary"}`, (ago: number) => (isStorm(ago) ? 19 : 0)],
    [`levee_attachments{node="n1",phase="attached"}`, (ago: number) => (ago > stormAgoSeconds ? 40 : 259)],
  ] as const;
  for (const name of ["levee_waiting", "levee_attachments"]) {
    lines.push(`# TYPE ${name} gauge`);
    for (const [labels, valueAt] of series.filter(([text]) => text.startsWith(`${name}{`)))
      for (let ago = 6 * 3_600; ago >= 0; ago -= stepSeconds)
        lines.push(`${labels} ${valueAt(ago)} ${nowSeconds - ago}`);
  }
  return `${lines.join("\n")}\n# EOF\n`;
}

function isStorm(agoSeconds: number): boolean {
  return Math.abs(agoSeconds - stormAgoSeconds) <= 600;
}
