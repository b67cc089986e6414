import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import type { Sight } from "./sight.ts";
import { MissingNetworksWatch } from "./missing-networks-watch.ts";
import { Turns } from "../serve/turns.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const graceMs = 30_000;
const nobody: Sight = { alive: new Set(), gone: new Set(), places: new Set() };
const oldHand = { supports: () => false, identity: { software: "levee-shim 0.1" } } as unknown as Hand; // all that is asked of it

let cniDir = "";
beforeEach(async () => {
  cniDir = await mkdtemp(join(tmpdir(), "levee-missing-"));
});
afterEach(() => rm(cniDir, { recursive: true }));

function pod(networks: string, more: Readonly<Record<string, string>> = {}): PodFacts {
  const names = { namespace: "shop" as Namespace, name: "web" as PodName, uid: "u1" as PodUid };
  const annotations = { "k8s.v1.cni.cncf.io/networks": networks, ...more };
  return { ...names, annotations, priority: undefined, isStatic: false, phase: "Running" };
}

/** A node with these pods and records, and a clock that the test moves. */
class Node {
  pods: readonly PodFacts[] | undefined = [pod("lan")];
  records: readonly AttachmentRecord[] = [];
  readonly said: string[] = [];
  nowMs = 0;
  readonly turns = new Turns();
  readonly missing = new MissingNetworksWatch({
    clock: { ...systemClock, monotonicMs: () => this.nowMs },
    config: { gcGraceMs: graceMs, multusNamespace: "kube-system" as Namespace, cniDir },
    view: { pods: () => this.pods },
    journal: { all: () => this.records },
    turns: this.turns,
    logger: silentLogger,
    eventTeller: { aboutPod: (_pod, { message }) => void this.said.push(message) },
  });

  async look(): Promise<readonly string[]> {
    await this.missing.round(oldHand, nobody);
    this.nowMs += graceMs;
    return this.missing.missing.map(({ kind, network }) => `${kind} ${network}`);
  }
}

test("MissingNetworksWatch sends one Event at the second look, and no more until something changes", async () => {
  const node = new Node();
  expect(await node.look()).toEqual([]);
  expect(await node.look()).toEqual(["no-record shop/lan"]);
  await node.look();
  expect(node.said).toHaveLength(1);
  expect(node.said[0]).toStartWith("shop/lan: nothing was attached for this pod");
  node.pods = [pod("lan,dmz")];
  await node.look();
  expect(await node.look()).toEqual(["no-record shop/lan", "no-record shop/dmz"]);
  expect(node.said).toHaveLength(2);
  node.pods = [];
  expect(await node.look()).toEqual([]);
});

test("MissingNetworksWatch ignores a pod that is being attached, and all pods while their list is incomplete", async () => {
  const node = new Node();
  node.records = [aRecord(1, { phase: "intent", pod: pod("lan") })];
  await node.look();
  expect(await node.look()).toEqual([]);
  node.records = [];
  node.pods = undefined;
  await node.look();
  expect(await node.look()).toEqual([]);
});

test("MissingNetworksWatch waits ten minutes for a pod that had its network, as after a reboot", async () => {
  const node = new Node();
  node.pods = [pod("lan", { "k8s.v1.cni.cncf.io/network-status": '[{"name": "shop/lan"}]' })];
  await node.look();
  expect(await node.look()).toEqual([]);
  node.nowMs += 600_000;
  expect(await node.look()).toEqual(["no-record shop/lan"]);
});

async function multusFile(args: readonly (readonly string[])[]): Promise<void> {
  await mkdir(join(cniDir, "results"));
  const config = Buffer.from('{"cniVersion":"1.0.0","name":"lan","type":"bridge"}').toString("base64");
  const file = { kind: "cniCacheV1", containerId: "c1", ifName: "net1", networkName: "lan", config, cniArgs: args };
  await writeFile(join(cniDir, "results/lan-c1-net1"), JSON.stringify({ ...file, result: { ips: [] } }));
  await writeFile(join(cniDir, "c1"), "[]");
}

test("MissingNetworksWatch ignores a pod that Multus attached", async () => {
  await multusFile([
    ["K8S_POD_NAMESPACE", "shop"],
    ["K8S_POD_NAME", "web"],
    ["K8S_POD_UID", "u1"],
  ]);
  const node = new Node();
  await node.look();
  expect(await node.look()).toEqual([]);
});

test("MissingNetworksWatch trusts a pod's own status when Multus' files do not name their pod", async () => {
  await multusFile([]);
  const node = new Node();
  node.pods = [pod("lan", { "k8s.v1.cni.cncf.io/network-status": "[]" })];
  await node.look();
  expect(await node.look()).toEqual([]);
  node.pods = [pod("lan")];
  await node.look();
  expect(await node.look()).toEqual(["no-record shop/lan"]);
});
