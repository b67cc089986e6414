import { expect, setDefaultTimeout, test } from "bun:test";
import { rm } from "node:fs/promises";
import { KubeNode } from "../conformance/kube-node.ts";
import { expectSuccess } from "../crash/crash-node.ts";
import { leveeProgram } from "../lab/lab.ts";

// Real processes on a machine that may be busy with other tests.
setDefaultTimeout(60_000);

const key = "k8s.v1.cni.cncf.io/networks";
const hashed = "pod7e0055a6880";

/** A node with a running pod `vm`, whose networks come from the API server's watch. */
async function startPod(): Promise<KubeNode> {
  const node = await KubeNode.start((api) => api.pod("vm", {}));
  await node.lab.startHand();
  await node.synced();
  expectSuccess((await node.add("vm", { uid: "uid-of-vm" })).outcome);
  return node;
}

/** The networks in the last network-status that the daemon wrote: `default/net-a pod7e…`. */
function lastStatus({ api }: KubeNode): readonly string[] {
  const metadata = api.patches.at(-1)?.body["metadata"] as { annotations: Record<string, string> } | undefined;
  const text = metadata?.annotations["k8s.v1.cni.cncf.io/network-status"] ?? "[]";
  const entries = JSON.parse(text) as readonly { name: string; interface?: string; default?: boolean }[];
  return entries.filter((entry) => entry.default !== true).map((entry) => `${entry.name} ${entry.interface ?? ""}`);
}

async function untilStatus(node: KubeNode, wanted: readonly string[], timeoutMs?: number): Promise<void> {
  const isWanted = (): boolean => Bun.deepEquals(lastStatus(node), wanted);
  await node.lab.until(`network-status is ${wanted.join()}`, () => Promise.resolve(isWanted() || undefined), timeoutMs);
}

function reasons({ api }: KubeNode): readonly string[] {
  return api.events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`);
}

test("a patched annotation is served from the watch within a second: status and events follow, for plug, unplug and plug of the same name", async () => {
  const node = await startPod();
  await using lab = node.lab;
  await using api = node.api;
  await lab.answer("second.ADD", `{"cniVersion":"1.0.0","interfaces":[{"name":"${hashed}","sandbox":"/x"}],"ips":[]}`);
  for (let turn = 0; turn < 2; turn += 1) {
    api.pod("vm", { [key]: `[{"name":"net-a","interface":"${hashed}"}]` });
    await untilStatus(node, [`default/net-a ${hashed}`], 1_000);
    api.pod("vm", { [key]: "[]" });
    await untilStatus(node, [], 1_000);
  }
  const calls = (await lab.calls()).filter(({ plugin }) => plugin === "second");
  expect(calls.map(({ command, ifname }) => `${command} ${ifname}`)).toEqual(
    ["ADD", "DEL", "ADD", "DEL"].map((command) => `${command} ${hashed}`),
  );
  await lab.until("the events are told", () =>
    Promise.resolve(reasons(node).some((text) => text.startsWith("Removed")) || undefined),
  );
  expect(reasons(node)).toContain(`AddedInterface: Add ${hashed} [] from default/net-a`);
  expect(reasons(node)).toContain(`RemovedInterface: Remove ${hashed} from default/net-a`);
});

/** Runs a command of levee against the node's API server. */
async function levee({ lab }: KubeNode, ...argv: readonly string[]): Promise<readonly [number, string]> {
  const args = [...argv, "--kubeconfig", lab.path("kubeconfig")];
  const child = Bun.spawn([leveeProgram, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, trouble] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return [await child.exited, out + trouble];
}

test("levee plug and levee unplug edit the annotation and wait for the result", async () => {
  const node = await startPod();
  await using lab = node.lab;
  await using api = node.api;
  api.keepsPatches = true;
  api.pod("vm", { [key]: "" });
  expect(await levee(node, "plug", "vm", "net-a@net1")).toEqual([
    0,
    "default/vm has primary (eth0), default/net-a (net1)\n",
  ]);
  expect(await levee(node, "unplug", "vm", "net-a")).toEqual([0, "default/vm has primary (eth0)\n"]);
  expect(api.patches.filter(({ body }) => JSON.stringify(body).includes(`"${key}":"[]"`))).toHaveLength(1);
  expect((await levee(node, "unplug", "vm", "net-a"))[1]).toContain("does not ask for default/net-a");
  const [status, text] = await levee(node, "plug", "vm", "missing");
  expect(status).toBe(1);
  expect(text).toContain("cannot find a network-attachment-definition (missing)");
  expect((await levee(node, "plug", "nobody", "net-a"))[1]).toContain("Cannot find the pod default/nobody");
  expect((await levee(node, "plug", "vm", "a/b/c"))[0]).toBe(2);
  expect(await lab.calls()).not.toEqual([]);
});

test("levee plug refuses an interface name that the pod has or gets again, and writes nothing", async () => {
  const node = await startPod();
  await using _lab = node.lab;
  await using api = node.api;
  api.keepsPatches = true;
  api.pod("vm", { [key]: "net-a@net1" });
  await untilStatus(node, ["default/net-a net1"]);
  const before = api.patches.length;
  const plug = async (network: string): Promise<string> => {
    const [status, text] = await levee(node, "plug", "vm", network);
    expect(status).toBe(1);
    return text;
  };
  const told = await plug("net-b@net1");
  expect(told).toContain("Cannot plug default/net-b as net1: default/net-a has that interface name in the pod");
  expect(told).toContain("or first levee unplug default/vm default/net-a@net1");
  expect(await plug("net-a@net1")).toContain("default/net-a has that interface name");
  expect(await plug("net-b@eth0")).toContain("Cannot plug default/net-b as eth0: primary has");
  expect(api.patches).toHaveLength(before);
  // network-status has the real name of an entry without one, which gets another one at the pod's next start.
  api.pod("vm", {
    [key]: "net-a",
    "k8s.v1.cni.cncf.io/network-status": JSON.stringify([{ name: "default/net-a", interface: "net8" }]),
  });
  expect(await plug("net-b@net8")).toContain("levee unplug default/vm default/net-a\n");
  expect(await plug("net-b@net1")).toContain("at the pod's next start default/net-a gets that interface name");
  expect(api.patches.filter(({ body }) => JSON.stringify(body).includes("net-b"))).toEqual([]);
});

test("a network that fails is told by an Event, and tried again until it can be attached", async () => {
  const node = await startPod();
  await using lab = node.lab;
  await using api = node.api;
  api.pod("vm", { [key]: "missing" });
  await lab.until("the failure is told", () =>
    Promise.resolve(
      reasons(node).some((text) => text.startsWith("FailedAddingInterface: Could not attach")) || undefined,
    ),
  );
  expect(reasons(node).join()).toContain("cannot find a network-attachment-definition (missing)");
  api.network("missing", { cniVersion: "1.0.0", ...lab.conf("second") });
  await untilStatus(node, ["default/missing net1"], 40_000);
});

test("levee plug and levee unplug do not end with the failure of another network of the pod", async () => {
  const node = await startPod();
  await using lab = node.lab;
  await using api = node.api;
  api.keepsPatches = true;
  await lab.answer("second.ADD", '{"cniVersion":"1.0.0","interfaces":[{"name":"net7","sandbox":"/x"}],"ips":[]}');
  for (const verb of ["ADD", "DEL"]) await lab.script(`second.${verb}`, "sleep 1");
  // It is tried again with each change of the annotation, before the others.
  api.pod("vm", { [key]: "missing@net9" });
  expect(await levee(node, "plug", "vm", "net-a@net7")).toEqual([
    0,
    "default/vm has primary (eth0), default/net-a (net7)\n",
  ]);
  expect(reasons(node).join()).toContain("Could not attach default/missing as net9");
  expect((await levee(node, "unplug", "vm", "net-a"))[0]).toBe(0);
});

test("levee plug without a resident hand says so when its time is over, and the network comes once there is one", async () => {
  const node = await startPod();
  await using lab = node.lab;
  await using api = node.api;
  api.keepsPatches = true;
  await lab.killHand();
  const [status, text] = await levee(node, "plug", "vm", "net-a@net1", "--timeout", "1s");
  expect(status).toBe(1);
  expect(text).toContain("default/vm does not have its new networks after 1000 ms");
  expect(text).toContain("the resident hand must run there");
  expect(lastStatus(node)).toEqual([]);
  await lab.startHand();
  await untilStatus(node, ["default/net-a net1"], 2_000);
});

test("levee plug edits the annotation again when another writer was faster, and gives up after five times", async () => {
  const node = await startPod();
  await using lab = node.lab;
  await using api = node.api;
  api.keepsPatches = true;
  await rm(lab.path("control/answers/second.ADD"));
  api.pod("vm", { [key]: "" });
  let conflicts = 0;
  api.mood = ({ method, body }) => {
    if (method !== "PATCH" || !body.includes(`"${key}"`) || conflicts > 0) return undefined;
    conflicts += 1;
    api.pod("vm", { [key]: "net-a@net8" });
    return 409;
  };
  const [status, text] = await levee(node, "plug", "vm", "net-a@net9");
  expect([status, text]).toEqual([0, "default/vm has primary (eth0), default/net-a (net8), default/net-a (net9)\n"]);
  expect(conflicts).toBe(1);
  api.mood = ({ method, body }) => {
    if (method !== "PATCH" || !body.includes(`"${key}"`)) return undefined;
    conflicts += 1;
    return 409;
  };
  expect((await levee(node, "unplug", "vm", "net-a@net9"))[0]).toBe(1);
  expect(conflicts).toBe(6);
  await untilStatus(node, ["default/net-a net8", "default/net-a net9"]);
});

test("each of forty changes is in network-status less than a second after its watch event", async () => {
  const node = await startPod();
  await using _lab = node.lab;
  await using api = node.api;
  let toldMs = 0;
  api.mood = ({ method }) => {
    if (method === "PATCH") toldMs = performance.now();
    return undefined;
  };
  const tookMs: number[] = [];
  for (const networks of Array.from({ length: 20 }, () => ["net-a", "[]"]).flat()) {
    const beganMs = performance.now();
    api.pod("vm", { [key]: networks });
    await untilStatus(node, networks === "[]" ? [] : ["default/net-a net1"], 5_000);
    tookMs.push(toldMs - beganMs);
  }
  const sorted = tookMs.toSorted((left, right) => left - right).map(Math.round);
  const [median = NaN, most = NaN] = [sorted[20], sorted.at(-1)];
  console.log(
    `from the watch event to network-status: ${median} ms in the middle, ${most} ms at most, of ${sorted.length}`,
  );
  expect(most).toBeLessThan(1_000);
});
