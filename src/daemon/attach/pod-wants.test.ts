import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import type { NetConf } from "../../config/net-conf.ts";
import { ConfCache } from "../look-up/conf-cache.ts";
import { PodWants } from "./pod-wants.ts";
import { emptyView } from "../../view/view.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-wants-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const args = { namespace: "a" as Namespace, name: "p" as PodName, uid: "uid-1" as PodUid };

function aNode() {
  const pod = { ...args, annotations: { "k8s.v1.cni.cncf.io/networks": "lan" } as Record<string, string> };
  const lan = { namespace: "a" as Namespace, name: "lan", config: "{}", annotations: {} as Record<string, string> };
  const networks = new Map<string, NetworkDefinition>([["a/lan", lan]]);
  const view = {
    ...emptyView,
    findPod: () => Promise.resolve(pod as unknown as PodFacts),
    findNetwork: (namespace: string, name: string) => Promise.resolve(networks.get(`${namespace}/${name}`)),
  };
  const wants = new PodWants({ view, confs: new ConfCache() });
  return { pod, lan, networks, wants };
}

test("PodWants stays the same while nothing changes, and other annotations do not count", async () => {
  const { pod, wants } = aNode();
  const before = await wants.text(args);
  pod.annotations["k8s.v1.cni.cncf.io/network-status"] = "[]";
  expect(await wants.text(args)).toBe(before);
});

test.each([
  ["the annotation", ({ pod }) => (pod.annotations["k8s.v1.cni.cncf.io/networks"] = "lan,lan")],
  ["the default network", ({ pod }) => (pod.annotations["v1.multus-cni.io/default-network"] = "other")],
  ["a network's configuration", ({ networks, lan }) => networks.set("a/lan", { ...lan, config: '{"type":"x"}' })],
  ["a network that is gone", ({ networks }) => networks.delete("a/lan")],
  ["the devices of a network", ({ lan }) => (lan.annotations["k8s.v1.cni.cncf.io/resourceName"] = "example.com/nic")],
] as [string, (node: ReturnType<typeof aNode>) => unknown][])("PodWants changes with %s", async (_what, change) => {
  const node = aNode();
  const before = await node.wants.text(args);
  change(node);
  expect(await node.wants.text(args)).not.toBe(before);
});

test("PodWants changes with the primary network's file, and when that becomes readable", async () => {
  const { wants } = aNode();
  const path = join(folder, "10-primary.conf");
  const conf = { clusterNetwork: path, delegates: [], defaultNetworks: [] } as unknown as NetConf;
  const absent = await wants.text(args, conf);
  writeFileSync(path, '{"cniVersion":"1.0.0","name":"primary","type":"bridge"}');
  const first = await wants.text(args, conf);
  writeFileSync(path, '{"cniVersion":"1.0.0","name":"primary","type":"ptp"}');
  const second = await wants.text(args, conf);
  expect(new Set([absent, first, second]).size).toBe(3);
});

test("PodWants of a broken annotation is its text", async () => {
  const { pod, wants } = aNode();
  pod.annotations["k8s.v1.cni.cncf.io/networks"] = "[broken";
  const before = await wants.text(args);
  pod.annotations["k8s.v1.cni.cncf.io/networks"] = "[broken too";
  expect(await wants.text(args)).not.toBe(before);
});

test("PodWants ignores an earlier pod with the same name", async () => {
  const { wants } = aNode();
  const own = await wants.text(args);
  expect(await wants.text({ ...args, uid: "uid-2" as PodUid })).not.toBe(own);
});
