/** `levee check node`, `/readyz` and Events of networks on a real API server, which reaches the daemon through its node proxy. */
import { expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { distributionPlugins, ip, Lab } from "../lab/lab.ts";
import { needsServer } from "./needs-server.ts";
import { adminToken, PolicyServer } from "./policy-server.ts";

const root = join(import.meta.dir, "../..");
/** The API server proxies to no loopback address. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;
const { group } = needsServer(
  "check-node",
  address === undefined ? "the machine has no address of its own" : undefined,
);

group("levee check node --all", () => {
  test("refuses to call a network ready whose bridge is missing, says so on the network, and sees it come", async () => {
    const server = await PolicyServer.start();
    await using lab = await Lab.make();
    const bridge = `br${lab.id}`;
    try {
      const metricsPort = await freePort();
      const kubeconfig = await writeKubeconfig(lab, server);
      server.must(["apply", "-k", join(root, "deploy/crd")]);
      server.must(["wait", "--for=condition=Established", "crd/network-attachment-definitions.k8s.cni.cncf.io"]);
      server.must(["create", "-f", "-"], node("worker-1"));
      server.must(["apply", "-f", "-"], network(bridge, 1_400));
      await startNode(lab, { metricsPort, kubeconfig });

      const check = (): Promise<End> =>
        levee(["check", "node", "--all", "--metrics-port", String(metricsPort), "--kubeconfig", kubeconfig]);
      const first = await lab.until(
        "the network was looked at",
        async () => {
          const end = await check();
          return end.out.includes("missing host bridge") ? end : undefined;
        },
        60_000,
      );
      expect(first.status).toBe(1);
      expect(first.out).toContain(`    × default/vlan57: not ready: missing host bridge ${bridge}\n`);
      expect(first.out).toMatch(/NETWORK +worker-1\n(?:.*\n)*default\/vlan57 +not-ready\n/u);
      const events = await lab.until("the Event is there", async () => {
        const text = server.must([
          "get",
          "events",
          "-o",
          "jsonpath={range .items[*]}{.reason}: {.message}{'\\n'}{end}",
        ]);
        return text.includes("NetworkNotReady") ? text : undefined;
      });
      expect(events).toContain(
        `NetworkNotReady: Pods cannot be attached on node worker-1: missing host bridge ${bridge}`,
      );

      const checkNetwork = (name: string): Promise<End> =>
        levee([
          ...["check", "network", name, "--all", "--metrics-port", String(metricsPort)],
          ...["--kubeconfig", kubeconfig],
        ]);
      const lacking = await checkNetwork("default/vlan57");
      expect(lacking.status).toBe(1);
      expect(lacking.out).toMatch(/worker-1 +default\/vlan57 +not-ready +missing host bridge/u);

      ip(["link", "add", bridge, "type", "bridge"]);
      const uplink = `up${lab.id}`;
      ip(["link", "add", uplink, "type", "veth", "peer", "name", `${uplink}x`]);
      for (const name of [`${uplink}x`, uplink]) ip(["link", "set", name, "up"]);
      ip(["link", "set", uplink, "master", bridge]);
      server.must(["apply", "-f", "-"], network(bridge, 1_300));
      const second = await lab.until(
        "the bridge was seen",
        async () => {
          const end = await check();
          return end.status === 0 ? end : undefined;
        },
        60_000,
      );
      expect(second.out).toMatch(/default\/vlan57 +ready\n/u);
      expect((await checkNetwork("vlan57")).status).toBe(0);
      expect((await levee(["check", "node", "nobody", "--kubeconfig", kubeconfig])).out).toContain(
        '"nobody" not found',
      );

      await server.stop();
      const readyz = await lab.until(
        "the API server is missed",
        async () => {
          const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
          return response.status === 503 ? response.text() : undefined;
        },
        60_000,
      );
      expect(readyz).toContain("[-]api failed: away since ");
      expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(200);
    } finally {
      for (const name of [bridge, `up${lab.id}`]) spawnSync("ip", ["link", "delete", name]);
      await server.stop();
    }
  }, 300_000);
});

async function startNode(
  lab: Lab,
  { metricsPort, kubeconfig }: { readonly metricsPort: number; readonly kubeconfig: string },
): Promise<void> {
  const confs = lab.path("net.d");
  await mkdir(confs);
  const primary = { cniVersion: "1.0.0", name: "main", plugins: [{ type: "loopback" }, { type: "ptp" }] };
  await writeFile(join(confs, "10-main.conflist"), JSON.stringify(primary));
  await lab.configure({
    directory: null,
    kubeconfig,
    metricsPort,
    binDir: distributionPlugins,
    uplinkGate: 1,
    cniConfigDir: confs,
    multusAutoconfigDir: confs,
  });
  await lab.startDaemon({ MULTUS_NODE_NAME: "worker-1" });
  await lab.startHand();
}

function node(name: string): string {
  const status = { addresses: [{ type: "InternalIP", address }] };
  return JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name }, status });
}

function network(bridge: string, mtu: number): string {
  const config = JSON.stringify({ cniVersion: "1.0.0", name: "vlan57", type: "bridge", bridge, mtu });
  const metadata = { name: "vlan57", namespace: "default" };
  return JSON.stringify({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata,
    spec: { config },
  });
}

async function writeKubeconfig(lab: Lab, server: PolicyServer): Promise<string> {
  const path = lab.path("kubeconfig");
  const config = {
    "current-context": "main",
    "contexts": [{ name: "main", context: { cluster: "c", user: "u" } }],
    "clusters": [{ name: "c", cluster: { "server": server.url, "certificate-authority": server.caFile } }],
    "users": [{ name: "u", user: { token: adminToken } }],
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

interface End {
  readonly status: number | null;
  readonly out: string;
}

function levee(args: readonly string[]): Promise<End> {
  const child = spawn(join(root, "dist/levee"), args, { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (out += chunk.toString()));
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, out })));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
