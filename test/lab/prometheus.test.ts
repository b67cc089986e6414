import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { freePort } from "./free-port.ts";
import { Lab } from "./lab.ts";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const isHere = has("promtool") && has("prometheus");
if (!isHere) process.stderr.write("test/lab/prometheus.test.ts: skipped, as prometheus is not installed\n");

const page = join(import.meta.dir, "../../docs/metrics.md");

/** A daemon that has something to tell in every family. */
async function busyLab(metricsPort: number): Promise<Lab> {
  const lab = await Lab.make();
  // Nobody listens there, so that traces wait.
  await lab.configure({ metricsPort, logLevel: "info", tracesEndpoint: "http://127.0.0.1:1", tracesOneIn: 1 });
  await lab.plugin("first");
  await lab.plugin("bad");
  await lab.script("bad.ADD", "exit 3");
  await lab.pod("web", {});
  // No program of that name is there, and it is not built in.
  await lab.network("gone", { cniVersion: "1.0.0", type: "vrf" });
  await lab.startDaemon();
  await lab.startHand();
  const netns = lab.netns("web");
  const confOf = (type: string): string =>
    lab.shimConf({ delegates: [{ name: "main", cniVersion: "1.1.0", ...lab.conf(type) }] });
  const call = { containerId: "c1", netns, args: lab.podArgs("web") };
  expect((await lab.cni("ADD", { ...call, conf: confOf("bad") })).exitCode).toBe(1);
  expect((await lab.cni("ADD", { ...call, conf: confOf("first") })).exitCode).toBe(0);
  expect((await lab.cni("DEL", { ...call, conf: confOf("first") })).exitCode).toBe(0);
  return lab;
}

async function scraped(lab: Lab, port: number): Promise<string> {
  return lab.until("the networks and all calls are counted", async () => {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text());
    const isAll = text.includes('levee_calls_total{verb="DEL"') && text.includes("levee_network_ready{");
    return isAll ? text : undefined;
  });
}

test.skipIf(!isHere)(
  "/metrics has nothing that promtool finds fault with",
  async () => {
    const port = await freePort();
    await using lab = await busyLab(port);
    const text = await scraped(lab, port);
    for (const line of [
      'levee_delegate_exits_total{plugin="bad",verb="ADD",exit="failed"} 1',
      'levee_delegate_exits_total{plugin="first",verb="ADD",exit="ok"} 1',
      'levee_admissions_total{class="ordinary",outcome="admitted"} 2',
      'levee_admissions_total{class="detach",outcome="admitted"} 1',
      'levee_wait_seconds_count{class="ordinary"} 2',
      "levee_delegate_oom_kills_total 0",
      "levee_traces_sent_total 0",
      "levee_traces_waiting 3",
      'levee_traces_dropped_total{reason="full"} 0',
      'levee_memory_state{state="free"} 1',
    ])
      expect(text).toContain(`${line}\n`);
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: "" });
  },
  60_000,
);

interface Queried {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

test.skipIf(!isHere)(
  "Prometheus scrapes the daemon and understands every expression of docs/metrics.md",
  async () => {
    const [port, ownPort] = [await freePort(), await freePort()];
    await using lab = await busyLab(port);
    const config = {
      global: { scrape_interval: "1s", scrape_timeout: "1s" },
      scrape_configs: [{ job_name: "levee", static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
    };
    // JSON is YAML.
    await writeFile(lab.path("prometheus.yml"), JSON.stringify(config));
    const prometheus = spawn(
      "prometheus",
      [
        `--config.file=${lab.path("prometheus.yml")}`,
        `--storage.tsdb.path=${lab.path("tsdb")}`,
        `--web.listen-address=127.0.0.1:${ownPort}`,
      ],
      { stdio: "ignore" },
    );
    using _ended = { [Symbol.dispose]: () => void prometheus.kill("SIGKILL") };
    const query = async (expression: string): Promise<Queried> => {
      const url = `http://127.0.0.1:${ownPort}/api/v1/query?query=${encodeURIComponent(expression)}`;
      return (await fetch(url)).json() as Promise<Queried>;
    };
    const value = await lab.until("Prometheus has a sample", async () => {
      const answer = await query('sum(levee_calls_total{verb="ADD",code="ok"})').catch(() => undefined);
      return answer?.data?.result[0]?.value[1];
    });
    expect(value).toBe("1");
    expect((await query("up")).data?.result[0]?.value[1]).toBe("1");

    const text = readFileSync(page, "utf8");
    const expressions = [...text.slice(text.indexOf("### A storm")).matchAll(/`([^`\n]*(?:levee|multus)_[^`\n]*)`/gu)]
      .map(([, expression = ""]) => expression)
      .filter((expression) => !expression.endsWith(".md"));
    expect(expressions.length).toBeGreaterThan(15);
    for (const expression of expressions) {
      expect({ expression, ...(await query(expression)) }).toMatchObject({ expression, status: "success" });
    }
  },
  60_000,
);
