/** What daemon and guard tell for the alerts and nobody else does: on the real daemon with the real hand, and by promtool. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "bun:test";
import { guardMetrics } from "../../src/guard/tell/guard-metrics.ts";
import { freePort } from "../lab/free-port.ts";
import { Lab } from "../lab/lab.ts";

async function node(): Promise<{ readonly lab: Lab; readonly metrics: () => Promise<string> }> {
  const metricsPort = await freePort();
  const lab = await Lab.make();
  await lab.configure({ metricsPort, logLevel: "info" });
  await lab.plugin("first");
  await lab.startDaemon();
  return { lab, metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text() };
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
  });
  expect(input).toContain('levee_guard_stale_sandbox_reservations{node="n1"} 1\n');
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: "" });
});
