/** Metrics for the alerts that only the daemon and the guard export: on the real daemon with the real hand, and by promtool. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { NodeViewSource } from "../../src/guard/observe/node-view-source.ts";
import { guardMetrics } from "../../src/guard/metrics/guard-metrics.ts";
import { freePort } from "../lab/free-port.ts";
import { Lab } from "../lab/lab.ts";

interface LabNode {
  readonly lab: Lab;
  readonly port: number;
  readonly metrics: () => Promise<string>;
}

async function node(): Promise<LabNode> {
  const metricsPort = await freePort();
  const lab = await Lab.make();
  await lab.configure({ metricsPort, logLevel: "info" });
  await lab.plugin("first");
  await lab.startDaemon();
  return {
    lab,
    port: metricsPort,
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
  };
}

test("levee_stale_sandbox_reservations tells of a sandbox whose DEL fails, until it succeeds", async () => {
  const { lab, metrics } = await node();
  await using _lab = lab;
  const stale = async (): Promise<string | undefined> =>
    /^levee_stale_sandbox_reservations\{node=".+"\} (\d+)$/mu.exec(await metrics())?.[1];
  await lab.pod("web", {});
  const conf = lab.shimConf({ delegates: [{ name: "main", cniVersion: "1.1.0", ...lab.conf("first") }] });
  const call = { containerId: "c1", netns: lab.netns("web"), args: lab.podArgs("web"), conf };
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  expect(await stale()).toBe("0");
  await lab.script("first.DEL", "exit 3");
  expect((await lab.cni("DEL", call)).exitCode).toBe(1);
  expect(await stale()).toBe("1");
  await lab.unscript("first.DEL");
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  expect(await stale()).toBe("0");
}, 60_000);

test("NodeViewSource reads what the real daemon tells of its load, in a kilobyte or two", async () => {
  const { lab, port, metrics } = await node();
  await using _lab = lab;
  const wanted = [{ node: "n1", address: "127.0.0.1" }];
  const source = new NodeViewSource({ clock: systemClock, port, wanted: () => wanted, close: () => new Set() });
  try {
    source.start();
    const [view] = await lab.until("the daemon has answered", () => {
      const views = source.views();
      return Promise.resolve(views.length > 0 ? views : undefined);
    });
    expect(view).toMatchObject({ node: "n1", waiting: 0, running: 0, leaks: 0 });
    const load = await (await fetch(`http://127.0.0.1:${port}/loadz`)).text();
    expect(load.length).toBeLessThan(4_096);
    // Every line of it is one of /metrics, but for values that change meanwhile.
    const names = (text: string): readonly string[] => text.split("\n").map((line) => line.split(" ")[0] ?? "");
    const all = new Set(names(await metrics()));
    expect(names(load).filter((name) => !all.has(name))).toEqual([]);
  } finally {
    await source.close();
  }
}, 60_000);

test("levee_node_reboot_required tells what the node's own file says, once a hand can look", async () => {
  const { lab, metrics } = await node();
  await using _lab = lab;
  expect(await metrics()).not.toMatch(/^levee_node_reboot_required\{/mu);
  await lab.startHand();
  const told = await lab.until(
    "the hand has looked",
    async () => /^levee_node_reboot_required\{node=".+"\} ([01])$/mu.exec(await metrics())?.[1],
  );
  const isWanted = existsSync("/run/reboot-required") || existsSync("/run/reboot-needed");
  expect(told).toBe(isWanted ? "1" : "0");
  expect((await metrics()).includes("levee_node_reboot_required_since_timestamp_seconds{")).toBe(isWanted);
}, 60_000);

test("promtool finds no fault with the guard's metrics", () => {
  const events = [
    {
      ...{ namespace: "a", name: "e", reason: "", node: "n1", podUid: "u", count: 1 },
      lastMs: 0,
      isNameReserved: true as const,
    },
  ];
  const input = guardMetrics({
    nowMs: 0,
    isLeader: true,
    runningMs: 0,
    refusedProposals: 0,
    health: [],
    decisions: [],
    events,
    nodes: [{ name: "n1" }],
    pods: [],
    alerts: [],
    nodeViews: [],
  });
  expect(input).toContain('levee_guard_stale_sandbox_reservations{node="n1"} 1\n');
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: "" });
});
