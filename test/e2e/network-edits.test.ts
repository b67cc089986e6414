/** `levee guard` with its shipped rights, on a real API server: network definitions that change and go under running pods. */
import { expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../lab/free-port.ts";
import { makePod, startGuardServer } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import type { PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("network-edits");
const program = join(import.meta.dir, "../../src/main.ts");

let server: PolicyServer;
let folder: string;
let guard: ChildProcess;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-edits-"));
  server = await startGuardServer();
  server.must(["create", "namespace", "prod"]);
  server.must(["create", "namespace", "shop"]);
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const config = {
    "current-context": "g",
    "contexts": [{ name: "g", context: { cluster: "g", user: "g" } }],
    "clusters": [{ name: "g", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
    "users": [{ name: "g", user: { token } }],
  };
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  port = await freePort();
  const args = [program, "guard", "--kubeconfig", kubeconfig, "--metrics-port", String(port)];
  guard = spawn(process.execPath, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { PATH: process.env["PATH"] ?? "" },
  });
}, 180_000);

afterAll(async () => {
  guard.kill("SIGKILL");
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Network {
  readonly master?: string;
  readonly range: string;
  readonly mtu?: number;
}

function apply(name: string, { master = "eth1", range, mtu }: Network): void {
  const ipam = { type: "whereabouts", network_name: name, range };
  const conf = { cniVersion: "1.0.0", type: "macvlan", master, ...(mtu === undefined ? {} : { mtu }), ipam };
  const object = {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: "prod" },
    spec: { config: JSON.stringify(conf) },
  };
  server.must(["apply", "-f", "-"], JSON.stringify(object));
}

async function runningPod(name: string, networks: string): Promise<void> {
  const annotations = { "k8s.v1.cni.cncf.io/networks": networks };
  await makePod(server, { name, namespace: "shop", node: "n1", annotations }, { phase: "Running", podIP: "10.9.0.1" });
}

async function warned(kind: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const found = new RegExp(`^levee_guard_network_warnings\\{kind="${kind}"\\} (\\d+)$`, "mu").exec(text);
  return found === null ? undefined : Number(found[1]);
}

/** Every event of the guard in the namespace, oldest first. */
function told(): readonly string[] {
  const list = JSON.parse(server.must(["-n", "prod", "get", "events", "-o", "json"])) as {
    readonly items: readonly {
      readonly involvedObject: { readonly name: string };
      readonly reason: string;
      readonly message: string;
      readonly source: { readonly component: string };
    }[];
  };
  return list.items
    .filter(({ source }) => source.component === "levee-guard")
    .map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason} ${message}`);
}

const changed =
  "lan NetworkChangedInUse LVN0703: the configuration has changed: shop/a, shop/b, shop/c and 1 more pod use it and keep the old configuration until restarted";
const overlap =
  "younger AddressesOverlap LVN0503: 10.1.0.129 to 10.1.0.254 on the node's interface eth1 is also given by NetworkAttachmentDefinition prod/lan";
const deleted =
  "lan NetworkDeletedInUse LVN0703: the definition was deleted: shop/a, shop/b, shop/c and 1 more pod use it and cannot start again without it";

group("levee guard and edits of networks, on a real API server", () => {
  test("it tells each edit that hurts once, names the pods, and tells of no other edit", async () => {
    apply("lan", { range: "10.1.0.0/24" });
    apply("quiet", { range: "10.1.5.0/24" });
    apply("touches", { range: "10.1.1.0/24" });
    apply("elsewhere", { range: "10.1.0.0/24", master: "eth2" });
    for (const name of ["a", "b", "c", "d"]) await runningPod(name, "prod/lan@net1");
    apply("younger", { range: "10.1.0.128/25" });
    // It compares all definitions, so it knows them now as they were.
    await until("the overlap is told", () => (told().includes(overlap) ? true : undefined));
    // None of these hurts: an annotation, and a definition that no pod uses, changed and deleted.
    server.must(["-n", "prod", "annotate", "network-attachment-definitions", "lan", "a=b"]);
    apply("quiet", { range: "10.1.5.0/24", mtu: 9000 });
    server.must(["-n", "prod", "delete", "network-attachment-definitions", "quiet"]);

    apply("lan", { range: "10.1.0.0/24", mtu: 9000 });
    await until("the change is told", () => (told().includes(changed) ? true : undefined));
    expect(server.must(["-n", "prod", "describe", "network-attachment-definitions", "lan"])).toContain(
      "NetworkChangedInUse",
    );
    expect([await warned("changed"), await warned("deleted"), await warned("overlap")]).toEqual([1, 0, 1]);

    server.must(["-n", "prod", "delete", "network-attachment-definitions", "lan"]);
    await until("the deletion is told", () => (told().includes(deleted) ? true : undefined));
    expect([await warned("changed"), await warned("deleted"), await warned("overlap")]).toEqual([0, 1, 0]);
    expect(told().toSorted()).toEqual([changed, deleted, overlap].toSorted());
  }, 300_000);
});
