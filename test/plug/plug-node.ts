import { expect } from "bun:test";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import { attachments, expectSuccess, makeNode, podCall, story, type PodCall } from "../crash/crash-node.ts";
import type { Lab } from "../lab/lab.ts";

const networksKey = "k8s.v1.cni.cncf.io/networks";

/** A node with a running pod `web`: eth0 by alpha and beta, net1 of `second` by gamma. `third` (delta) and `pair` (delta, epsilon) are there to plug. */
export async function makePlugNode(settings: Readonly<Record<string, unknown>> = {}): Promise<Lab> {
  const lab = await makeNode({ namespaceIsolation: false, gcGraceMs: 400, ...settings });
  for (const name of ["delta", "epsilon"]) await lab.plugin(name);
  await lab.network("third", { cniVersion: "1.0.0", name: "third", ...lab.conf("delta") });
  const plugins = [lab.conf("delta"), lab.conf("epsilon")];
  await lab.network("pair", { cniVersion: "1.0.0", name: "pair", plugins });
  return lab;
}

export async function runPod(lab: Lab): Promise<PodCall> {
  await lab.startDaemon();
  await lab.startHand();
  const call = podCall(lab, "c1");
  expectSuccess(await lab.cni("ADD", call));
  await lab.forgetCalls();
  return call;
}

/** Changes the pod's annotation; without one it is taken away. */
export async function annotate(lab: Lab, networks: unknown): Promise<void> {
  const text = typeof networks === "string" ? networks : JSON.stringify(networks);
  await lab.pod("web", networks === undefined ? {} : { [networksKey]: text });
}

/** The pod's networks as the journal has them: `second net1`. */
export async function networksOfPod(lab: Lab): Promise<readonly string[]> {
  const [only] = await attachments(lab);
  return (only?.networks ?? [])
    .filter(({ isDefault }) => !isDefault)
    .map(({ network, ifname }) => `${network.replace("default/", "")} ${ifname}`);
}

export async function untilNetworks(lab: Lab, wanted: readonly string[], timeoutMs?: number): Promise<void> {
  let seen: readonly string[] = [];
  await lab
    .until(
      `the pod has ${wanted.join(", ")}`,
      async () => {
        seen = await networksOfPod(lab);
        return Bun.deepEquals(seen, wanted) || undefined;
      },
      timeoutMs,
    )
    .catch((thrown: unknown) => {
      throw new Error(`${String(thrown)}\nIt has ${seen.join(", ")}`);
    });
}

/** Waits until a change of the pod has failed, and returns the reason. */
export async function untilFailed(lab: Lab): Promise<string> {
  return await lab.until("a change fails", async () => {
    const { entries } = await lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name: "web" });
    return entries.find(({ verb, what }) => verb === "PLUG" && what === "failed")?.detail;
  });
}

export async function expectStory(lab: Lab, wanted: readonly string[]): Promise<void> {
  expect(await story(lab)).toEqual(wanted);
}
