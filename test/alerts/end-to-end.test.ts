/**
 * The real daemon, scraped by a real Prometheus with the shipped rules, which sends to a real Alertmanager with the shipped
 * inhibition. The rules are a copy in a hurry: intervals and waits of minutes are as many seconds, windows six times as many.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { parse } from "yaml";
import { freePort } from "../lab/free-port.ts";
import { Lab } from "../lab/lab.ts";
import { Alertmanager, until, type Labels } from "./alertmanager.ts";

const deploy = join(import.meta.dir, "../../deploy/alerts");
const shipped = (name: string): string => readFileSync(join(deploy, name), "utf8");

/** Hours, offsets and thresholds are left as they are. Windows stay wide enough for a node that tries a failing network rarely. */
function hurried(rules: string): string {
  return rules
    .replaceAll(/\[(\d+)m\]/gu, (_, minutes: string) => `[${Number(minutes) * 6}s]`)
    .replaceAll(/^( +(?:interval|for|keep_firing_for): \d+)m$/gmu, "$1s");
}

/** The alerts that Alertmanager sent to its receiver. */
interface Notification {
  readonly status: string;
  readonly alerts: readonly { readonly labels: Labels; readonly annotations: Labels }[];
}

test("a daemon whose plugin fails becomes a page that names node, cluster and runbook", async () => {
  const [metricsPort, prometheusPort] = [await freePort(), await freePort()];
  const received: Notification[] = [];
  using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      received.push((await request.json()) as Notification); // Alertmanager's webhook
      return new Response();
    },
  });
  await using manager = await Alertmanager.start({
    route: { receiver: "page", group_by: ["cluster", "alertname"], group_wait: "1s", group_interval: "1s" },
    receivers: [{ name: "page", webhook_configs: [{ url: receiver.url.href }] }],
    ...(parse(shipped("alertmanager-inhibit.yaml")) as object), // our own file
  });
  await using lab = await failingNode(metricsPort);
  using _prometheus = await startPrometheus(lab, { metricsPort, prometheusPort, manager });

  for (let index = 0; index < 5; index += 1) await failedAdd(lab, index);
  const found = await until(
    "the page has come",
    async () => {
      await failedAdd(lab, Date.now());
      return received.flatMap(({ alerts }) => alerts).find(({ labels }) => labels["alertname"] === "CniAddErrorRate");
    },
    50_000,
  );
  expect(found.labels).toMatchObject({
    ...{ alertname: "CniAddErrorRate", severity: "critical", source: "levee", cluster: "lab", node: "lab-node" },
  });
  expect(found.annotations["description"]).toMatch(/^100% of the ADDs of Levee on lab-node failed in five minutes\./u);
  expect(found.annotations["runbook_url"]).toEndWith("/docs/runbooks/CniAddErrorRate.md");

  // No exporter reports pods here, so the alerts about missing data fire; the daemon's own alerts are quiet.
  const names = await until("the alerts say that they are blind", async () => {
    const all = (await manager.alerts()).map(({ labels }) => [labels["alertname"], labels["source"]].join(" "));
    return all.includes("LeveeBlind kube-state-metrics") ? all.toSorted() : undefined;
  });
  expect(names.filter((name) => !name.startsWith("LeveeBlind"))).toEqual(["CniAddErrorRate levee"]);
}, 120_000);

async function failingNode(metricsPort: number): Promise<Lab> {
  const lab = await Lab.make();
  await lab.configure({ metricsPort, logLevel: "info" });
  await lab.plugin("bad");
  await lab.script("bad.ADD", "exit 3");
  await lab.startDaemon();
  return lab;
}

/** A pod of its own each time: one that failed before may be held back, which is a failure too, but not the plugin's. */
async function failedAdd(lab: Lab, number: number): Promise<void> {
  const name = `web-${number}`;
  await lab.pod(name, {});
  const netns = lab.netns(name);
  const conf = lab.shimConf({ delegates: [{ name: "main", cniVersion: "1.1.0", ...lab.conf("bad") }] });
  const { exitCode } = await lab.cni("ADD", { containerId: `c${number}`, netns, args: lab.podArgs(name), conf });
  expect(exitCode).toBe(1);
  lab.deleteNetns(netns);
}

interface Ports {
  readonly metricsPort: number;
  readonly prometheusPort: number;
  readonly manager: Alertmanager;
}

async function startPrometheus(lab: Lab, { metricsPort, prometheusPort, manager }: Ports): Promise<Disposable> {
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s", external_labels: { cluster: "lab" } },
    rule_files: [lab.path("rules.yaml")],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(manager.url).host] }] }] },
    scrape_configs: [
      {
        job_name: "levee",
        honor_labels: true,
        static_configs: [{ targets: [`127.0.0.1:${metricsPort}`], labels: { node: "lab-node" } }],
      },
    ],
  };
  await writeFile(lab.path("rules.yaml"), hurried(shipped("levee.rules.yaml")));
  // JSON is YAML.
  await writeFile(lab.path("prometheus.yml"), JSON.stringify(config));
  const child = spawn(
    "prometheus",
    [
      `--config.file=${lab.path("prometheus.yml")}`,
      `--storage.tsdb.path=${lab.path("tsdb")}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ],
    { stdio: "ignore" },
  );
  try {
    await lab.until("Prometheus has scraped the daemon", async () => {
      const url = `http://127.0.0.1:${prometheusPort}/api/v1/query?query=levee_build_info`;
      const answer = await fetch(url).then(
        (each) => each.text(),
        () => "",
      );
      return answer.includes("levee_build_info") || undefined;
    });
  } catch (thrown) {
    child.kill("SIGKILL");
    throw thrown;
  }
  return { [Symbol.dispose]: () => void child.kill("SIGKILL") };
}
