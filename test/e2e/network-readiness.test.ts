/** NetworkReadiness and the dry run on a real API server: `levee guard`, the daemon and the hand with their shipped rights. */
import { expect, test } from "bun:test";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { argoHealth } from "../examples/argo-lua.ts";
import { freePort } from "../lab/free-port.ts";
import { distributionPlugins, ip, Lab } from "../lab/lab.ts";
import { leveeProgram, run, type Said } from "../lab/levee.ts";
import { makePod, startGuardServer } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { personTokens, type PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const deploy = join(import.meta.dir, "../../deploy");
/** The API server proxies to no loopback address. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;
const { group, beforeAll, afterAll } = needsServer(
  "network-readiness",
  address === undefined ? "the machine has no address of its own" : undefined,
);

let server: PolicyServer;
let lab: Lab;
let guard: ChildProcess;
let metricsPort: number;
const names = (): readonly string[] => [`br${lab.id}`, `up${lab.id}`];

beforeAll(async () => {
  server = await startGuardServer();
  lab = await Lab.make();
  metricsPort = await freePort();
  server.must(["apply", "-f", join(deploy, "base/access.yaml")]);
  server.must(["create", "-f", "-"], nodeObject());
  await makePod(
    server,
    { name: "levee-x", namespace: "levee-system", node: "worker-1", account: "levee", owners: [owner] },
    { phase: "Running" },
  );
  server.must(["apply", "-f", "-"], networkObject());
  await startDaemon();
  const kubeconfig = await server.kubeconfig(tokenOf("levee-guard"));
  const args = ["guard", "--kubeconfig", kubeconfig, "--daemon-port", String(metricsPort)];
  guard = spawn(leveeProgram, args, { stdio: "ignore", env: { PATH: process.env["PATH"] ?? "" } });
}, 180_000);

afterAll(async () => {
  guard.kill("SIGKILL");
  for (const name of names()) spawnSync("ip", ["link", "delete", name]);
  await lab.remove();
  await server.stop();
});

group("a NetworkReadiness", () => {
  test("says which node lacks the bridge, and kubectl wait returns when the bridge is made", async () => {
    const [bridge = "", uplink = ""] = names();
    server.must(["apply", "-f", "-"], readinessObject());
    // For the next test, so that the guard looks at all of them at once.
    server.must(["apply", "-f", "-"], readinessObject("elsewhere", { nodeSelector: { zone: "east" } }));
    server.must(["apply", "-f", "-"], readinessObject("missing", { network: "nothing" }));
    expect(argoHealth(readiness())).toMatchObject({ status: "Progressing" });
    const lacking = await until("the guard has said no", () => {
      const { status } = readiness();
      return status?.conditions[0]?.status === "False" ? status : undefined;
    });
    expect(lacking).toMatchObject({
      conditions: [{ type: "Ready", reason: "NodesNotReady", observedGeneration: 1 }],
      nodes: { total: 1, ready: 0, notReady: 1, notHeard: 0 },
      unready: [{ node: "worker-1", reason: `missing host bridge ${bridge}` }],
    });
    expect(server.must(["get", "networkreadiness"])).toMatch(/vlan57 +False +1 +0 +ready on 0 of 1 nodes; worker-1: /);
    expect(waited("1s").status).not.toBe(0);
    expect(argoHealth(readiness()).message).toContain(`worker-1: missing host bridge ${bridge}`);

    ip(["link", "add", bridge, "type", "bridge"]);
    ip(["link", "add", uplink, "type", "veth", "peer", "name", `${uplink}x`]);
    for (const name of [`${uplink}x`, uplink]) ip(["link", "set", name, "up"]);
    ip(["link", "set", uplink, "master", bridge]);
    expect(waited("120s")).toMatchObject({ status: 0, stderr: "" });
    expect(argoHealth(readiness())).toEqual({ status: "Healthy", message: "ready on 1 of 1 nodes" });

    // A pipeline asks for a verdict of its own: kubectl wait takes none about an older generation.
    server.must(["patch", "networkreadiness", "vlan57", "--type=merge", "-p", '{"spec":{"asOf":"4f2c"}}']);
    expect(argoHealth(readiness()).status).toBe("Progressing");
    expect(waited("120s").status).toBe(0);
    expect(readiness().status?.observedGeneration).toBe(2);
  }, 300_000);

  test("counts only the nodes with the labels, and no node is not ready", async () => {
    const reason = (name: string): string | undefined => readiness(name).status?.conditions[0]?.reason;
    await until("no node has the label", () => reason("elsewhere") === "NoNodes" || undefined);
    await until("there is no such network", () => reason("missing") === "NetworkMissing" || undefined);
    server.must(["label", "node", "worker-1", "zone=east"]);
    await until("the node counts", () => reason("elsewhere") === "AllNodesReady" || undefined, { timeoutMs: 90_000 });
  }, 200_000);

  test("gets its status from the guard alone, which can write nothing else of it", () => {
    const as = "--as=system:serviceaccount:levee-system:levee-guard";
    const patch = ["patch", "networkreadiness", "vlan57", "--type=merge", "-p"];
    expect(server.kubectl([...patch, '{"spec":{"network":"other"}}', as]).stderr).toContain("forbidden");
    const claim = '{"status":{"observedGeneration":9}}';
    const bob = server.kubectl([...patch, claim, "--subresource=status"], { token: personTokens.bob });
    expect(bob.stderr).toContain("forbidden");
  });
});

group("levee check network --dry-run", () => {
  test("tries the network on every node, and removes its request", async () => {
    const { status, out, err } = await check(await server.kubeconfig(), "--all", "-o", "json");
    expect({ status, out: status === 0 ? "" : out, err }).toEqual({ status: 0, out: "", err: "" });
    expect(JSON.parse(out)).toMatchObject({
      isGood: true,
      nodes: [{ node: "worker-1", network: "default/vlan57", dryRun: { state: "passed", step: "compare" } }],
    });
    expect(server.must(["get", "networkdryruns", "-A", "-o", "name"])).toBe("");
    const ports = ip(["-br", "link", "show", "master", names()[0] ?? ""]);
    expect(ports.trim().split("\n")).toHaveLength(1);
  }, 120_000);

  test("needs the right to create requests; whoever only reaches the port begins nothing", async () => {
    const list = ["--verb=get,list", "--resource=nodes,nodes/proxy"];
    server.must(["create", "clusterrole", "asks-nodes", ...list]);
    server.must(["create", "clusterrolebinding", "asks-nodes", "--clusterrole=asks-nodes", "--user=bob"]);
    const refused = await check(await server.kubeconfig(personTokens.bob), "--all");
    expect(refused.status).toBe(1);
    expect(refused.err).toContain("right to create networkdryruns.levee.dev");
    const other = { network: "vlan57", nodes: ["worker-2"] };
    const made = server.must(["create", "-o", "name", "-f", "-"], dryRunRequest(other));
    for (const name of ["nothing", made.trim().split("/")[1] ?? ""]) {
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/dryrunz/default/${name}`);
      expect(answer.status).toBe(404);
    }
    const flood = await Promise.all(
      Array.from({ length: 20 }, (_, index) => fetch(`http://127.0.0.1:${metricsPort}/dryrunz/default/f${index}`)),
    );
    expect(flood.filter(({ status }) => status === 503).length).toBeGreaterThan(10);
  }, 120_000);
});

const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "levee", uid: "11111111", controller: true };

async function startDaemon(): Promise<void> {
  const confs = lab.path("net.d");
  await mkdir(confs);
  const primary = { cniVersion: "1.0.0", name: "main", plugins: [{ type: "loopback" }, { type: "ptp" }] };
  await writeFile(join(confs, "10-main.conflist"), JSON.stringify(primary));
  const kubeconfig = await server.kubeconfig(tokenOf("levee"));
  const folders = { cniConfigDir: confs, multusAutoconfigDir: confs, binDir: distributionPlugins };
  await lab.configure({ directory: null, kubeconfig, metricsPort, uplinkGate: 1, ...folders });
  await lab.startDaemon({ MULTUS_NODE_NAME: "worker-1" });
  await lab.startHand();
}

function tokenOf(account: string): string {
  return server.must(["-n", "levee-system", "create", "token", account, "--duration=1h"]).trim();
}

function check(kubeconfig: string, ...more: readonly string[]): Promise<Said> {
  const args = ["check", "network", "default/vlan57", "--dry-run", "--metrics-port", String(metricsPort)];
  return run(leveeProgram, [...args, "--kubeconfig", kubeconfig, ...more]);
}

function waited(timeout: string): ReturnType<PolicyServer["kubectl"]> {
  return server.kubectl(["wait", "--for=condition=Ready", "networkreadiness/vlan57", `--timeout=${timeout}`]);
}

interface Readiness {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions: readonly { readonly status: string; readonly reason: string }[];
  };
}

function readiness(name = "vlan57"): Readiness {
  return JSON.parse(server.must(["get", "networkreadiness", name, "-o", "json"])) as Readiness; // what kubectl prints
}

function readinessObject(name = "vlan57", spec: object = {}): string {
  return JSON.stringify({
    apiVersion: "levee.dev/v1alpha1",
    kind: "NetworkReadiness",
    metadata: { name },
    spec: { network: "vlan57", ...spec },
  });
}

function dryRunRequest(spec: object): string {
  const metadata = { generateName: "check-", namespace: "default" };
  return JSON.stringify({ apiVersion: "levee.dev/v1alpha1", kind: "NetworkDryRun", metadata, spec });
}

function nodeObject(): string {
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady" }];
  const status = { addresses: [{ type: "InternalIP", address }], conditions };
  return JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" }, status });
}

function networkObject(): string {
  // The version of the example, which has no CHECK: that of the bridge plugin fails without an IPAM.
  const config = JSON.stringify({ cniVersion: "0.3.1", name: "vlan57", type: "bridge", bridge: names()[0], ipam: {} });
  const metadata = { name: "vlan57", namespace: "default" };
  return JSON.stringify({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata,
    spec: { config },
  });
}
