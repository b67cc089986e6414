import { execFileSync } from "node:child_process";
import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import type { ChecksAnswer, NodeAnswer } from "../../src/wire/node-view.ts";
import { freePort } from "./free-port.ts";
import { distributionPlugins, Lab } from "./lab.ts";

async function get(port: number, path: string): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

test("the daemon tells its health, its metrics and its networks over HTTP", async () => {
  await using lab = await Lab.make();
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  await lab.configure({ healthPort, metricsPort, uplinkGate: 1 });
  await symlink(`${distributionPlugins}/loopback`, lab.path("bin/loopback"));
  await lab.plugin("first");
  await lab.network("vlan57", { cniVersion: "1.0.0", type: "bridge", bridge: `br-${lab.id}` });
  // A bridge as the plugin makes it: there, and leading nowhere.
  const lone = `bu-${lab.id}`.slice(0, 15);
  execFileSync("ip", ["link", "add", lone, "type", "bridge"]);
  using _bridge = { [Symbol.dispose]: () => void execFileSync("ip", ["link", "delete", lone]) };
  await lab.network("lone", { cniVersion: "1.0.0", type: "bridge", bridge: lone });
  await lab.network("tagged", { cniVersion: "1.0.0", type: "bridge", bridge: lone, vlan: 57 });
  await symlink(`${distributionPlugins}/bridge`, lab.path("bin/bridge"));
  await lab.network("plain", { cniVersion: "1.1.0", ...lab.conf("first") });
  await lab.startDaemon();
  await lab.until("both ports listen", async () =>
    (await Promise.all([healthPort, metricsPort].map((port) => get(port, "/healthz").catch(() => undefined)))).every(
      (answer) => answer?.status === 200,
    )
      ? true
      : undefined,
  );

  expect(await get(healthPort, "/readyz")).toEqual({ status: 200, body: "ok" });
  expect((await get(healthPort, "/readyz?verbose")).body).toContain("[!]hand degraded: no resident hand");
  expect((await get(healthPort, "/metrics")).status).toBe(404);

  await lab.answer("ADD", '{"cniVersion":"1.1.0","interfaces":[],"ips":[]}');
  await lab.pod("web", {});
  const netns = lab.netns("web");
  const conf = lab.shimConf({ delegates: [{ name: "main", cniVersion: "1.1.0", ...lab.conf("first") }] });
  const call = { containerId: "c1", netns, args: lab.podArgs("web"), conf };
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  const metrics = await lab.until("the call is counted", async () => {
    const { body } = await get(metricsPort, "/metrics");
    return body.includes("levee_calls_total{") ? body : undefined;
  });
  for (const line of [
    'levee_calls_total{verb="ADD",class="ordinary",code="ok"} 1',
    'multus_server_request_total{handler="/cni",code="200",method="post"} 1',
    'levee_delegate_seconds_count{plugin="first",verb="ADD"} 1',
    'levee_attachments{phase="attached"} 1',
    "levee_resident_hands 0",
    "levee_ready 1",
  ])
    expect(metrics).toContain(`${line}\n`);
  expect(metrics).not.toContain("\nlevee_canary_success");

  await lab.startHand();
  const checks = await lab.until(
    "the canary and the networks have been seen",
    async () => {
      const { body } = await get(metricsPort, "/nodez");
      const told = JSON.parse(body) as { readonly node: NodeAnswer; readonly checks: ChecksAnswer };
      const canary = told.checks.checks.find(({ name }) => name === "canary");
      const isSeen = canary?.detail.startsWith("loopback was added") && told.checks.networks[0]?.state === "not-ready";
      return isSeen === true ? told.checks : undefined;
    },
    30_000,
  );
  expect(checks).toMatchObject({ isReady: true, networksTotal: 4, networksAgeMs: expect.any(Number) as number });
  expect(checks.networks).toEqual([
    {
      network: "default/lone",
      state: "not-ready",
      reasons: [`host bridge ${lone} has no uplink (ip link set DEVICE master ${lone})`],
    },
    {
      network: "default/tagged",
      state: "not-ready",
      reasons: [
        `host bridge ${lone} has no uplink (ip link set DEVICE master ${lone})`,
        `host bridge ${lone} does not filter VLANs (ip link set ${lone} type bridge vlan_filtering 1)`,
      ],
    },
    {
      network: "default/vlan57",
      state: "not-ready",
      reasons: [`missing host bridge br-${lab.id}`],
    },
    { network: "default/plain", state: "ready", reasons: [] },
  ]);
  expect(await lab.ask<ChecksAnswer>({ ask: "checks" })).toMatchObject({ nodeName: checks.nodeName, isReady: true });
  expect((await get(metricsPort, "/metrics")).body).toContain('levee_network_ready{network="default/vlan57"} 0\n');
  expect((await get(metricsPort, "/metrics")).body).toContain("levee_canary_success 1\n");

  await lab.killHand();
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  expect(await lab.killDaemon("SIGTERM")).toBe(0);
}, 90_000);

test("a plugin that cannot be run makes the node unready as long as a hand says so", async () => {
  await using lab = await Lab.make();
  const healthPort = await freePort();
  // The shim has loopback built in.
  await lab.configure({ healthPort, builtinPlugins: "off" });
  await lab.startDaemon();
  await lab.startHand();
  const body = await lab.until("the canary failed", async () => {
    const answer = await get(healthPort, "/readyz").catch(() => undefined);
    return answer?.status === 503 ? answer.body : undefined;
  });
  expect(body).toContain(
    `[-]canary failed: the plugin loopback is not in ${lab.path("bin")}, so nothing could be tried\n`,
  );
  expect((await get(healthPort, "/healthz")).status).toBe(200);
  await lab.killHand();
  await lab.until("the hand is missed", async () => {
    const answer = await get(healthPort, "/readyz?verbose");
    return answer.status === 200 && answer.body.includes("[!]hand degraded") ? true : undefined;
  });
}, 60_000);
