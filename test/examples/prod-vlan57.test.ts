/** The example of examples/prod-vlan57 as it is, on a real bridge with the real plugin. */
import { spawn, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { parse } from "yaml";
import { checkMigration } from "../../src/cli/move-in/migrate/check-migration.ts";
import { objectOf } from "../../src/kube/client/json-fields.ts";
import { distributionPlugins, ip, Lab } from "../lab/lab.ts";

const example = join(import.meta.dir, "../../examples/prod-vlan57");
const namespace = "kubevirt-vms";
const hostBridge = "br-prod";
/** KubeVirt's name for the machine's network `prod`. */
const ifname = /"interface":"(pod[0-9a-f]{11})"/u.exec(await readFile(join(example, "pod.yaml"), "utf8"))?.[1] ?? "";
const firstMac = "02:57:00:00:00:01";
const secondMac = "02:57:00:00:00:02";

test("two virtual machines' pods reach each other on prod-vlan57, and leave nothing behind", async () => {
  // A machine that has the real bridge is no place for this test.
  expect(spawnSync("ip", ["link", "show", hostBridge]).status).not.toBe(0);
  await using lab = await Lab.make();
  ip(["link", "add", hostBridge, "type", "bridge"]);
  try {
    ip(["link", "set", hostBridge, "up"]);
    await prepare(lab);
    const pods = [
      { name: "virt-launcher-ci1", mac: firstMac, address: "10.57.0.1" },
      { name: "virt-launcher-ci2", mac: secondMac, address: "10.57.0.2" },
    ].map((pod) => ({ ...pod, netns: lab.netns(pod.name.slice(-3)) }));
    for (const pod of pods) {
      const end = await lab.cni("ADD", callOf(lab, pod));
      expect(end).toMatchObject({ exitCode: 0, stderr: "" });
      expect(linkOf(pod.netns)).toMatchObject({ address: pod.mac });
      // The plugin gives no address: on the real network a DHCP server does.
      ip(["-n", nameOf(pod.netns), "address", "add", `${pod.address}/24`, "dev", ifname]);
    }
    expect(portCount()).toBe(2);
    expect(greeting(nameOf(pods[0]?.netns ?? ""), nameOf(pods[1]?.netns ?? ""))).toBe("from ci2");
    for (const pod of pods) expect(await lab.cni("DEL", callOf(lab, pod))).toMatchObject({ exitCode: 0 });
    expect(portCount()).toBe(0);
  } finally {
    spawnSync("ip", ["link", "delete", hostBridge]);
  }
});

test("levee migrate --check finds nothing in the way of the example", async () => {
  const objects = await exampleObjects(["network.yaml", "root-disk.yaml", "virtual-machine.yaml", "pod.yaml"]);
  const findings = checkMigration(objects).filter(({ topic }) => topic === "networks" || topic === "pods");
  expect(findings.map(({ level, object }) => `${level} ${object}`)).toEqual([
    "ok 1 network",
    "look plugins bridge",
    "ok 2 pods and templates",
  ]);
});

test("the files of the example make every network and every claim that its machine names", async () => {
  const [network, claim, machine] = await exampleObjects(["network.yaml", "root-disk.yaml", "virtual-machine.yaml"]);
  const { networks, volumes } = objectOf(objectOf(objectOf(machine?.["spec"])["template"])["spec"]);
  expect([network, claim, machine]).toMatchObject([
    { kind: "NetworkAttachmentDefinition", metadata: { name: "prod-vlan57", namespace } },
    { kind: "PersistentVolumeClaim", metadata: { name: "ci1-root", namespace } },
    { kind: "VirtualMachine", metadata: { name: "ci1", namespace } },
  ]);
  expect({ networks, volumes }).toEqual({
    networks: [
      { name: "default", pod: {} },
      { name: "prod", multus: { networkName: `${namespace}/prod-vlan57` } },
    ],
    volumes: [{ name: "root", persistentVolumeClaim: { claimName: "ci1-root" } }],
  });
});

test("the first stage takes exactly the machine's second interface away, and one deleted line gives it back", async () => {
  const [stages] = await exampleObjects(["kustomization.yaml"]);
  expect(stages).toMatchObject({
    resources: ["network.yaml", "readiness.yaml", "root-disk.yaml", "virtual-machine.yaml"],
    components: ["pod-network-only"],
  });
  const text = await readFile(join(example, "kustomization.yaml"), "utf8");
  expect(text.trimEnd().split("\n").at(-1)).toBe("components: [pod-network-only]");
  const [component, machine] = await exampleObjects(["pod-network-only/kustomization.yaml", "virtual-machine.yaml"]);
  const [first] = (component?.["patches"] ?? []) as readonly { readonly patch: string }[]; // ours
  const steps = parse(first?.patch ?? "") as readonly {
    readonly op: string;
    readonly path: string;
    readonly value?: string;
  }[];
  const at = (path: string): unknown =>
    path
      .split("/")
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], machine);
  for (const { path, value } of steps.filter(({ op }) => op === "test")) expect(at(path)).toBe(value);
  expect(steps.filter(({ op }) => op === "remove").map(({ path }) => at(path))).toMatchObject([
    { name: "prod", bridge: {} },
    { name: "prod", multus: { networkName: `${namespace}/prod-vlan57` } },
  ]);
});

function exampleObjects(files: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  return Promise.all(
    files.map(async (file) => parse(await readFile(join(example, file), "utf8")) as Record<string, unknown>), // ours
  );
}

/** The example's own files, a second machine, and a primary network that touches nothing. */
async function prepare(lab: Lab): Promise<void> {
  await lab.plugin("primary");
  await lab.answer("ADD", '{"cniVersion":"0.3.1"}');
  const primary = lab.conf("primary", { cniVersion: "0.3.1", name: "primary" });
  await lab.configure({ cniVersion: "0.3.1", delegates: [primary] });
  const pod = await readFile(join(example, "pod.yaml"), "utf8");
  const network = await readFile(join(example, "network.yaml"), "utf8");
  await writeFile(lab.path("directory/networks/prod-vlan57.yaml"), network);
  await writeFile(lab.path("directory/pods/ci1.yaml"), pod);
  // The same as most people write it, without a capability: the bridge plugin takes the MAC address from CNI_ARGS.
  const plain = network.replace("name: prod-vlan57", "name: plain").replace(/ *"capabilities".*\n/u, "");
  expect(plain).not.toContain("capabilities");
  await writeFile(lab.path("directory/networks/plain.yaml"), plain);
  const second = pod.replace("launcher-ci1", "launcher-ci2").replace('"name":"prod-vlan57"', '"name":"plain"');
  await writeFile(lab.path("directory/pods/ci2.yaml"), second.replace(firstMac, secondMac));
  await lab.startDaemon();
}

function callOf(lab: Lab, pod: { readonly name: string; readonly netns: string }): Parameters<Lab["cni"]>[1] {
  return {
    containerId: `vlan57-${pod.name}`,
    netns: pod.netns,
    args: lab.podArgs(pod.name, namespace),
    path: `${lab.path("bin")}:${distributionPlugins}`,
    conf: lab.shimConf({ cniVersion: "0.3.1" }),
  };
}

function linkOf(netns: string): unknown {
  const [link] = JSON.parse(ip(["-n", nameOf(netns), "-j", "link", "show", ifname])) as readonly unknown[]; // iproute2's
  return link;
}

function portCount(): number {
  const ports = ip(["-o", "link", "show", "master", hostBridge]);
  return ports.split("\n").filter((line) => line !== "").length;
}

function nameOf(netns: string): string {
  return netns.slice(netns.lastIndexOf("/") + 1);
}

/** Lets the first pod read a line over TCP from the second one. */
function greeting(first: string, second: string): string {
  const inside = (netns: string, script: string): string[] => ["netns", "exec", netns, process.execPath, "-e", script];
  const listen = 'require("net").createServer((peer) => peer.end("from ci2")).listen(5757, "10.57.0.2")';
  const server = spawn("ip", inside(second, listen), { stdio: "ignore" });
  const read =
    'const go = () => require("net").connect(5757, "10.57.0.2").on("data", (data) => { process.stdout.write(data); process.exit(0); }).on("error", () => setTimeout(go, 50)); go(); setTimeout(() => process.exit(1), 5000)';
  try {
    return spawnSync("ip", inside(first, read), { encoding: "utf8" }).stdout;
  } finally {
    server.kill("SIGKILL");
  }
}
