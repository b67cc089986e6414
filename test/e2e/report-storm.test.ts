/**
 * `levee report --storm` of a whole cluster: `npm run e2e -- report-storm`. Real: the API server and its node proxy, Levee's
 * daemon, shim and hand, the plugins, network namespaces. Not real: kubelet.
 */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { StormReport } from "../../src/cli/decisions/report/storm/storm-report.ts";
import { missingAddress } from "./console/own-address.ts";
import { ToldNode, toldNode } from "./console/told-node.ts";
import { startGuardServer } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { personTokens, type PolicyServer } from "./policy-server.ts";

const { group, beforeAll, afterAll } = needsServer("report-storm", missingAddress());

const longMs = 300_000;
const pods = 24;

let server: PolicyServer;
let node: ToldNode;

beforeAll(async () => {
  server = await startGuardServer();
  node = await ToldNode.start(server, { attachCeiling: 1, attachStart: 1 });
  node.defineNetwork("lan", "10.79.1.0/24");
  server.must(["create", "clusterrolebinding", "see-carol", "--clusterrole=levee-viewer", "--user=carol"]);
  // The API server proxies to no loopback address, so this node cannot be asked.
  const status = { addresses: [{ type: "InternalIP", address: "127.0.0.1" }] };
  const silent = { apiVersion: "v1", kind: "Node", metadata: { name: "worker-2" }, status };
  server.must(["create", "-f", "-"], JSON.stringify(silent));
}, longMs);

afterAll(async () => {
  await node.remove();
  await server.stop();
}, longMs);

interface End {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

async function report(kubeconfig: string, ...argv: readonly string[]): Promise<End> {
  const args = ["report", "--storm", "--metrics-port", String(node.metricsPort), "--kubeconfig", kubeconfig, ...argv];
  const child = spawn(join(import.meta.dir, "../../dist/levee"), args, { stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.err += chunk.toString()));
  return await new Promise((resolve) => child.on("close", (status) => resolve({ status, ...said })));
}

group("levee report --storm", () => {
  test(
    "a quiet cluster had no storm, and the node that cannot be asked is named",
    async () => {
      const { status, err } = await report(await server.kubeconfig());
      expect([status, err]).toEqual([
        1,
        expect.stringContaining("fewer than 20; worker-2 could not be asked") as string,
      ]);
    },
    longMs,
  );

  test(
    "a storm that Levee held is told from the daemon's recorder and metrics, without a word of a plugin",
    async () => {
      const names = Array.from({ length: pods }, (_, index) => `rd-${index}`);
      const ends = await Promise.all(names.map((name) => node.attach(name, "lan")));
      expect(ends.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0));
      const { status, out } = await report(await server.kubeconfig(), "-o", "json");
      expect(status).toBe(0);
      const told = JSON.parse(out) as StormReport;
      expect(told).toMatchObject({
        ...{ nodesTold: 1, isWhole: true, silent: [{ node: "worker-2" }], decisions: { value: [] } },
        storm: { namespaces: [["shop", told.storm.pods]], attached: told.storm.pods, oomKills: 0, leaks: 0 },
        now: [{ node: toldNode, waiting: 0, leaks: 0 }],
      });
      // The first one or two found a free slot.
      expect(told.storm.pods).toBeGreaterThanOrEqual(20);
      expect(told.storm.lineMax).toBeGreaterThan(1);
      const text = await report(await server.kubeconfig());
      expect(text.out).toStartWith(`# Post-mortem: a storm of ${told.storm.pods} pods on ${toldNode}\n`);
      expect(text.out).toContain("Over: Levee held it, and no Decision was needed");
      expect(text.out).toContain("Node worker-2 could not be asked: ");
    },
    longMs,
  );

  test(
    "who may not ask the nodes is told which right is missing",
    async () => {
      const { status, err } = await report(await server.kubeconfig(personTokens.carol));
      expect([status, err]).toEqual([3, expect.stringContaining("the right to get nodes/proxy") as string]);
    },
    longMs,
  );

  test(
    "strangers at the port cost one look in five seconds",
    async () => {
      const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await node.ask("/stormz")).status));
      expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect((await node.ask("/stormz")).status).toBe(503);
    },
    longMs,
  );
});
