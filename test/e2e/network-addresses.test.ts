/** `levee guard` with its shipped rights, on a real API server with whereabouts' own definitions: addresses that are left. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../lab/free-port.ts";
import { builtFolder } from "../peers/peer.ts";
import { whereabouts } from "../peers/whereabouts.ts";
import { startGuardServer } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { untilServed, type PolicyServer } from "./policy-server.ts";
import { Program } from "./program.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("network-addresses");
const program = join(import.meta.dir, "../../src/main.ts");

let server: PolicyServer;
let folder: string;
let guard: Program;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-addresses-"));
  server = await startGuardServer();
  server.must(["create", "namespace", "prod"]);
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const kubeconfig = await server.kubeconfig(token);
  port = await freePort();
  const command = [process.execPath, program, "guard", "--kubeconfig", kubeconfig, "--metrics-port", String(port)];
  guard = new Program(folder, "guard", { command });
  guard.start();
}, 600_000);

afterAll(async () => {
  await guard.stop("SIGKILL");
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function apply(...objects: readonly object[]): void {
  server.must(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
}

function network(name: string, ipam: object): object {
  const config = { cniVersion: "1.0.0", type: "bridge", bridge: name, ipam: { type: "whereabouts", ...ipam } };
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: "prod" },
    spec: { config: JSON.stringify(config) },
  };
}

function pool(name: string, range: string, offsets: readonly (number | string)[]): object {
  const allocations = Object.fromEntries(offsets.map((at) => [String(at), { id: `c${at}`, podref: `prod/p${at}` }]));
  return {
    apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
    kind: "IPPool",
    metadata: { name, namespace: "kube-system" },
    spec: { range, allocations },
  };
}

const lines = /^levee_guard_network_addresses(?:_left)?\{.*$/gmu;

async function counted(): Promise<readonly string[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  // The family stands there from the first count on.
  if (!text.includes("# TYPE levee_guard_network_addresses_left gauge")) throw new Error("nothing is counted yet");
  return [...text.matchAll(lines)].map(([line]) => line.replace("levee_guard_network_", ""));
}

function untilCounted(wanted: readonly string[]): Promise<true> {
  const look = async (): Promise<true> => {
    const found = await counted();
    if (found.toSorted().join() === wanted.toSorted().join()) return true;
    throw new Error(found.join("\n"));
  };
  return until("the addresses are counted", look, { timeoutMs: 120_000, everyMs: 500 });
}

group("levee guard and the addresses of whereabouts, on a real API server", () => {
  test("it counts the pools of each definition, beside garbage, and sees whereabouts that comes later", async () => {
    apply(
      network("lan", { range: "10.1.0.0/28" }),
      network("six", { range: "fd00:1::/64", exclude: ["fd00:1::/120"] }),
    );
    await untilCounted([]);
    const from = builtFolder(await whereabouts());
    for (const file of readdirSync(from).filter((name) => name.startsWith("whereabouts.cni.cncf.io_")))
      server.must(["apply", "-f", "-"], readFileSync(join(from, file), "utf8"));
    await untilServed(server, "ippools.whereabouts.cni.cncf.io");
    apply(
      pool("10.1.0.0-28", "10.1.0.0/28", [1, 2, 3, "x", "-4", "99999999999999999999"]),
      pool("fd00-1---64", "fd00:1::/64", [300]),
      pool("nonsense", "nonsense", [1]),
      pool("blue-10.1.0.0-28", "10.1.0.0/28", [4, 5]),
    );
    await untilCounted([
      'addresses{network="prod/lan"} 14',
      'addresses_left{network="prod/lan"} 11',
      'addresses{network="prod/six"} 18446744073709552000',
      'addresses_left{network="prod/six"} 18446744073709552000',
    ]);
    server.must(["-n", "prod", "delete", "network-attachment-definitions", "six"]);
    apply(
      pool(
        "10.1.0.0-28",
        "10.1.0.0/28",
        Array.from({ length: 14 }, (_, at) => at + 1),
      ),
    );
    await untilCounted(['addresses{network="prod/lan"} 14', 'addresses_left{network="prod/lan"} 0']);
    expect(guard.isRunning).toBe(true);
  }, 600_000);
});
