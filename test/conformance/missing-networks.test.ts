// A running pod that asked for a network and does not have it is found: annotation, journal and namespace are compared.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { ChecksAnswer } from "../../src/wire/node-view.ts";
import { ip, type Lab } from "../lab/lab.ts";
import { ipamFolder } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { attach, inShort, round, secondRound, startGcNode } from "./garbage.ts";
import { networksAnnotation } from "./node.ts";

async function runningPod(lab: Lab, name: string, networks: string): Promise<void> {
  const metadata = { name, namespace: "default", annotations: { [networksAnnotation]: networks } };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, status: { phase: "Running" } };
  await writeFile(lab.path("directory/pods", `default.${name}.json`), JSON.stringify(pod));
}

test("a pod that was started while another configuration was in force is told at the second look", async () => {
  await using lab = await startGcNode({}, { prepare: (lab) => runningPod(lab, "web", "lan") });
  expect(inShort(await round(lab, "look"))).toEqual([]);
  const answer = await secondRound(lab, "look");
  expect(answer.findings).toMatchObject([
    {
      what: "pod",
      namespace: "default",
      pod: "web",
      network: "default/lan",
      action: "report",
      why: expect.stringContaining("nothing was attached"),
    },
  ]);
  const { checks, isReady } = await lab.ask<ChecksAnswer>({ ask: "checks" });
  expect(checks.find(({ name }) => name === "missing-networks")).toMatchObject({
    state: "warning",
    detail: "1 network that a running pod asked for is missing: default/web: default/lan",
  });
  expect(isReady).toBe(true);
  expect(lab.daemonLog.split("A running pod lacks a network it asked for")).toHaveLength(2);
});

test("an interface that is gone, and a network that was asked for later, are told; what is there is not", async () => {
  await using bridge = realBridge("n");
  await using lab = await startGcNode();
  // The programmable plugin of the default network makes no interface, and here does not say that it did.
  await lab.answer("first.ADD", '{"cniVersion":"1.1.0","interfaces":[],"ips":[]}');
  await lab.network("lan", bridge.conf("lan", { dataDir: ipamFolder(lab) }));
  await runningPod(lab, "web", "lan");
  await runningPod(lab, "whole", "lan");
  const netns = await attach(lab, "web", lab.podArgs("web"));
  await attach(lab, "whole", lab.podArgs("whole"));
  expect(inShort(await secondRound(lab, "look"))).toEqual([]);
  ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "link", "delete", "net1"]);
  await runningPod(lab, "whole", "lan,dmz");
  const answer = await lab.until("the view has noticed", async () => {
    const seen = await secondRound(lab, "look");
    return seen.findings.length === 2 ? seen : undefined;
  });
  expect(answer.findings.map(({ pod, network, ifname, why }) => [pod, network, ifname, why])).toEqual([
    ["web", "default/lan", "net1", "its interface net1 is not in the pod's network namespace any more"],
    ["whole", "default/dmz", "", "the pod asks for it, and it was not attached when the pod was started"],
  ]);
});
