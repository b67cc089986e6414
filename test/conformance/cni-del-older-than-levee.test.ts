// CNI 1.1, DEL, and ADR 0008: containers that the journal does not know, because another program attached them before
// Levee came, or because the state folder was put back from an old backup. What is there of them goes with their DEL.
import { spawnSync } from "node:child_process";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { distributionPlugins, ip, type Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge, type RealBridge } from "./bridge.ts";
import { containerId, expectSilence, leaks, networksAnnotation, resultOf, startNode, story } from "./node.ts";

interface Old {
  readonly containerId: string;
  readonly netns: string;
  readonly args: string;
}

interface BridgeNode extends AsyncDisposable {
  readonly lab: Lab;
  readonly primary: Record<string, unknown>;
}

interface BridgeNodeOptions {
  readonly withHand?: boolean;
  /** Makes what the view has from the start: a DEL, unlike an ADD, waits for no pod. */
  readonly before?: (lab: Lab, bridge: RealBridge) => Promise<void>;
}

/** A node whose primary is the distribution's bridge, and whose runtime keeps its files in the lab. */
async function startBridgeNode({ before, ...options }: BridgeNodeOptions = {}): Promise<BridgeNode> {
  const bridge = realBridge("o");
  let primary: Record<string, unknown> = {};
  const lab = await startNode({
    ...options,
    prepare: async (lab) => {
      primary = bridge.conf("primary", { dataDir: ipamFolder(lab) });
      await lab.configure({ delegates: [primary], runtimeCniDir: lab.path("cni") });
      await before?.(lab, bridge);
    },
  });
  const dispose = async (): Promise<void> => {
    await lab.remove();
    await bridge[Symbol.asyncDispose]();
  };
  return { lab, primary, [Symbol.asyncDispose]: dispose };
}

function old(lab: Lab, name: string): Old {
  return { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs(name) };
}

/** Attaches as a runtime does without a meta plugin: the plugin's own program, and nothing of Levee. */
function attachBare(conf: Record<string, unknown>, container: Old, ifname = "eth0"): void {
  const env = {
    PATH: process.env["PATH"] ?? "",
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: container.containerId,
    CNI_NETNS: container.netns,
    CNI_IFNAME: ifname,
    CNI_ARGS: container.args,
    CNI_PATH: distributionPlugins,
  };
  const ran = spawnSync(join(distributionPlugins, String(conf["type"])), {
    env,
    input: JSON.stringify(conf),
    encoding: "utf8",
  });
  expect({ status: ran.status, why: ran.status === 0 ? "" : ran.stdout }).toEqual({ status: 0, why: "" });
}

/** libcni's file about a network of a container. */
async function runtimeResult(lab: Lab, network: string, { containerId: id }: Old): Promise<void> {
  await mkdir(lab.path("cni/results"), { recursive: true });
  await writeFile(lab.path(`cni/results/${network}-${id}-eth0`), "{}");
}

function links(netns: string): readonly string[] {
  const name = netns.slice(netns.lastIndexOf("/") + 1);
  const all = JSON.parse(ip(["-n", name, "-j", "link"])) as readonly { ifname: string }[];
  return all.map(({ ifname }) => ifname);
}

test("a pod older than Levee, with its networks in the view: its DEL leaves no interface and no address", async () => {
  let lan: Record<string, unknown> = {};
  await using node = await startBridgeNode({
    before: async (lab, bridge) => {
      lan = bridge.conf("lan", { dataDir: ipamFolder(lab) });
      await lab.network("lan", lan);
      await lab.pod("web", { [networksAnnotation]: "lan" });
    },
  });
  const { lab, primary } = node;
  const call = old(lab, "web");
  attachBare(primary, call);
  attachBare(lan, call, "net1");
  expect(links(call.netns)).toEqual(["lo", "eth0", "net1"]);
  expectSilence(await lab.cni("DEL", call));
  expect(links(call.netns)).toEqual(["lo"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a pod older than Levee that is gone from the view: the default network of the call is deleted", async () => {
  await using node = await startBridgeNode();
  const { lab, primary } = node;
  const call = old(lab, "web");
  attachBare(primary, call);
  expectSilence(await lab.cni("DEL", call));
  expect(links(call.netns)).toEqual(["lo"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a pod older than Levee whose definition is missing: the default network is deleted all the same", async () => {
  await using node = await startBridgeNode({
    before: (lab) => lab.pod("web", { [networksAnnotation]: "nowhere" }),
  });
  const { lab, primary } = node;
  const call = old(lab, "web");
  attachBare(primary, call);
  expectSilence(await lab.cni("DEL", call));
  expect(links(call.netns)).toEqual(["lo"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("its namespace is gone, but the runtime has its result: the address is released", async () => {
  await using node = await startBridgeNode();
  const { lab, primary } = node;
  const call = old(lab, "web");
  attachBare(primary, call);
  await runtimeResult(lab, "primary", call);
  lab.deleteNetns(call.netns);
  expect(await addresses(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", { ...call, netns: "" }));
  expect(await leftovers(lab)).toEqual([]);
});

test("its namespace and the runtime's result are gone, but host-local holds its address: that is released", async () => {
  await using node = await startBridgeNode({ withHand: true });
  const { lab, primary } = node;
  const [gone, stays] = [old(lab, "gone"), old(lab, "stays")];
  for (const call of [gone, stays]) attachBare(primary, call);
  lab.deleteNetns(gone.netns);
  expectSilence(await lab.cni("DEL", { ...gone, netns: "" }));
  expect(await addresses(lab)).toHaveLength(1);
  expect(links(stays.netns)).toEqual(["lo", "eth0"]);
});

test("a DEL kept while the daemon was away is not dropped by the shim of another ADD that cannot see what is left", async () => {
  for (const isAlive of [true, false]) {
    await using node = await startBridgeNode();
    const { lab, primary } = node;
    await lab.pod("next", {});
    const [call, next] = [old(lab, "web"), old(lab, "next")];
    attachBare(primary, call);
    await lab.killDaemon("SIGKILL");
    // Without a path no file tells that there was a namespace: only host-local knows the container.
    expectSilence(await lab.cni("DEL", isAlive ? call : { ...call, netns: "" }));
    if (!isAlive) lab.deleteNetns(call.netns);
    await lab.startDaemon();
    resultOf(await lab.cni("ADD", next));
    expect(await addresses(lab)).toHaveLength(2);
    await lab.startHand();
    await lab.until("its address is released", async () => ((await addresses(lab)).length === 1 ? true : undefined));
    if (isAlive) expect(links(call.netns)).toEqual(["lo"]);
    expectSilence(await lab.cni("DEL", next));
    expect(await leftovers(lab)).toEqual([]);
  }
});

test("a DEL whose plugin fails is in the leak ledger, and the runtime's sandbox can go", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [{ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }],
        runtimeCniDir: lab.path("cni"),
      }),
  });
  await lab.script("first.DEL", "exit 1");
  const call = old(lab, "web");
  await runtimeResult(lab, "primary", call);
  expectSilence(await lab.cni("DEL", call));
  expect((await leaks(lab)).map((leak) => leak.containerId)).toEqual([call.containerId]);
});

test("the state folder comes from a backup that is older than the pod: its DEL leaves nothing", async () => {
  for (const withCopy of [true, false]) {
    await using node = await startBridgeNode();
    const { lab } = node;
    await lab.pod("web", {});
    await lab.killDaemon("SIGTERM");
    await cp(lab.stateDir, lab.path("backup"), { recursive: true });
    await lab.startDaemon();
    const call = old(lab, "web");
    resultOf(await lab.cni("ADD", call));
    await lab.killDaemon("SIGTERM");
    await rm(lab.stateDir, { recursive: true });
    await cp(lab.path("backup"), lab.stateDir, { recursive: true });
    // Multus' files may be on the backup's side of the disk as well.
    if (!withCopy) await rm(lab.cniDir, { recursive: true });
    await lab.startDaemon();
    expectSilence(await lab.cni("DEL", call));
    expect(links(call.netns)).toEqual(["lo"]);
    expect(await leftovers(lab)).toEqual([]);
  }
});

test("a late DEL of an unknown container leaves the namespace of a known one alone", async () => {
  await using node = await startBridgeNode();
  const { lab } = node;
  const known = old(lab, "known");
  await lab.pod("known", {});
  resultOf(await lab.cni("ADD", known));
  expectSilence(await lab.cni("DEL", { ...known, containerId: containerId("late") }));
  expect(links(known.netns)).toEqual(["lo", "eth0"]);
  expect(await addresses(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", known));
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL with the namespace of the host never runs a plugin in it", async () => {
  await using lab = await startNode();
  const [link = "lo"] = (JSON.parse(ip(["-j", "link"])) as readonly { ifname: string }[])
    .map(({ ifname }) => ifname)
    .filter((name) => name !== "lo");
  const call = { containerId: containerId("host"), netns: "/proc/self/ns/net", ifname: link };
  expectSilence(await lab.cni("DEL", call));
  expect((await lab.calls()).map(({ env }) => env["CNI_NETNS"]).filter((netns) => netns !== "")).toEqual([]);
});

test("DELs of two hundred containers that were never added run no plugin, with and without a namespace", async () => {
  await using lab = await startNode({ withHand: true });
  const netns = lab.netns("empty");
  const calls = Array.from({ length: 200 }, (_, index) => ({
    containerId: containerId(`never${index}x`),
    ...(index % 2 === 0 ? { netns } : {}),
  }));
  for (let at = 0; at < calls.length; at += 20)
    for (const outcome of await Promise.all(calls.slice(at, at + 20).map((call) => lab.cni("DEL", call))))
      expectSilence(outcome);
  expect(await story(lab)).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});
