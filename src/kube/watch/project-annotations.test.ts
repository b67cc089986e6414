import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import { projectPod } from "./project.ts";

const networks = "k8s.v1.cni.cncf.io/networks";
const defaultNetwork = "v1.multus-cni.io/default-network";
const status = "k8s.v1.cni.cncf.io/network-status";

function project(annotations: Readonly<Record<string, string>>, phase = "Pending"): PodFacts | undefined {
  const pod = { metadata: { name: "web", namespace: "shop", annotations }, spec: {}, status: { phase } };
  return projectPod(pod, new SharedTexts());
}

test("projectPod keeps what a pod asks for within bounds, and never as if it asked for nothing", () => {
  const longest = "a".repeat(16_384);
  expect(project({ [networks]: longest })?.annotations).toEqual({ [networks]: longest });
  for (const key of [networks, defaultNetwork]) {
    const kept = project({ [key]: `${longest}a` })?.annotations[key] ?? "";
    expect(kept).toBe("\u0000too long: 16385");
  }
});

test("projectPod keeps no network-status that is longer than any that Levee writes", () => {
  expect(project({ [status]: "x".repeat(32_769) })?.annotations).toEqual({});
  const indented = `[${"\n".padEnd(40_000)}]`;
  expect(project({ [status]: indented })?.annotations[status]?.length).toBeLessThan(32_769);
});

test("projectPod keeps no annotations of a pod that has ended, as any number of them may name a node", () => {
  for (const phase of ["Succeeded", "Failed"])
    expect(project({ [networks]: "lan", [status]: "[]", "kubernetes.io/config.mirror": "x" }, phase)).toMatchObject({
      annotations: {},
      isStatic: true,
    });
  expect(project({ [networks]: "lan" }, "Running")?.annotations).toEqual({ [networks]: "lan" });
});
