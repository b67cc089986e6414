import { propose } from "../../../src/guard/decide/propose.ts";
import { defaultGuardSettings } from "../../../src/guard/facts/guard-settings.ts";
import { outage } from "../../../src/guard/outage.fixture.ts";
import { gatesPath, rebootGateObject } from "../../../src/wire/reboot-gate.ts";
import { decisions, guardUser } from "../guard/guard-server.ts";
import type { Ask, PolicyServer } from "../policy-server.ts";
import { storedMetadata, storeObjects } from "./stored-objects.ts";

/** As long as a name may be. */
export const hostileName = `${"a".repeat(120)}.${"b".repeat(120)}.evil`;
/** Markup, a mark that turns the direction of writing, and a word that would run. */
export const hostileText = `<img src=x onerror="globalThis.isOwned=true">`;
const rightToLeft = "\u202e";

interface Numbers {
  readonly nodeCount: number;
  readonly podCount: number;
}

/** The pods that wait; the others have their network. */
const waitingEvery = 25;

/** Nodes and pods as objects, and a pod of a tenant whose name and events try to be more than text. */
export async function fill(server: PolicyServer, { nodeCount, podCount }: Numbers): Promise<void> {
  for (const namespace of ["apps", "tenants"]) server.must(["create", "namespace", namespace]);
  await storeObjects(server, numbers(nodeCount, nodeAt));
  await storeObjects(
    server,
    numbers(podCount, (index) => podAt(index, nodeCount)),
  );
  await makeHostile(server);
  await makeDecisions(server);
  await makeGates(server);
}

function* numbers<T>(count: number, make: (index: number) => T): Generator<T> {
  for (let index = 0; index < count; index += 1) yield make(index);
}

function nodeName(index: number): string {
  return `node-${String(index).padStart(4, "0")}`;
}

function nodeAt(index: number): { readonly key: string; readonly object: object } {
  const name = nodeName(index);
  const status = { conditions: [{ type: "Ready", status: index % 400 === 7 ? "False" : "True" }] };
  return { key: `minions/${name}`, object: { apiVersion: "v1", kind: "Node", metadata: storedMetadata(name), status } };
}

function podAt(index: number, nodeCount: number): { readonly key: string; readonly object: object } {
  const name = `pod-${index}`;
  const status =
    index % waitingEvery === 0
      ? { phase: "Pending" }
      : {
          phase: "Running",
          conditions: [
            { type: "PodReadyToStartContainers", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
          ],
        };
  const body = podBody("apps", name, nodeName(index % nodeCount));
  return { key: `pods/apps/${name}`, object: { ...body, metadata: storedMetadata(name, "apps"), status } };
}

/** A pod with a node and without a network: no kubelet is here. */
export async function makeWaitingPod(server: PolicyServer, name: string, node: string): Promise<void> {
  await must(server, "/api/v1/namespaces/apps/pods", podBody("apps", name, node));
}

async function makeHostile(server: PolicyServer): Promise<void> {
  await must(server, "/api/v1/namespaces/tenants/pods", podBody("tenants", hostileName, "node-0001"));
  const uid = server.must(["-n", "tenants", "get", "pod", hostileName, "-o", "jsonpath={.metadata.uid}"]);
  const now = new Date().toISOString().replace(/\.\d+/u, "");
  await must(server, "/api/v1/namespaces/tenants/events", {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "hostile", namespace: "tenants" },
    type: "Warning",
    reason: "FailedCreatePodSandBox",
    message: `${rightToLeft}plugin said ${hostileText}`,
    count: 3,
    firstTimestamp: now,
    lastTimestamp: now,
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "tenants", name: hostileName, uid },
  });
}

/** The two Decisions of the outage, as the guard writes them. */
async function makeDecisions(server: PolicyServer): Promise<void> {
  for (const { name, spec } of propose(outage(), defaultGuardSettings)) {
    const metadata = { name, namespace: "levee-system" };
    const body = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata, spec };
    await must(server, decisions, body, { user: guardUser });
  }
}

/** A node that may be rebooted, and one that may not. */
async function makeGates(server: PolicyServer): Promise<void> {
  const nowMs = Date.now();
  // A verdict stands for ten minutes at most.
  const times = { observedAtMs: nowMs, expiresAtMs: nowMs + 540_000, exceptions: [] };
  const leader = { identity: "a", fence: 1 };
  const dayMs = 86_400_000;
  const gates = [
    { ...times, node: "node-0004", verdict: "Allow", reasons: [], rebootRequiredSinceMs: nowMs - dayMs },
    {
      ...times,
      node: "node-0002",
      verdict: "Deny",
      rebootRequiredSinceMs: nowMs - 19 * dayMs,
      reasons: [
        {
          code: "FiringAlert",
          message: `The alert ${hostileText} fires`,
          sinceMs: nowMs - 7_200_000,
          object: "Alert/NodeFilesystemFull",
          remedy: "Resolve the alert, or let it pass for a while: levee gate except",
        },
        {
          code: "OtherNodeRebooted",
          message: "node-0003 was rebooted 4 min ago; 10 min must pass",
          sinceMs: nowMs - 240_000,
          object: "Node/node-0003",
          remedy: "Wait",
        },
      ],
    },
  ] as const;
  for (const gate of gates) await must(server, gatesPath, rebootGateObject(gate, leader), { user: guardUser });
}

function podBody(namespace: string, name: string, node: string): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: { nodeName: node, containers: [{ name: "main", image: "example.com/none" }] },
  };
}

async function must(server: PolicyServer, path: string, body: object, as?: Ask["as"]): Promise<void> {
  const { code, text } = await server.ask({ method: "POST", path, body, ...(as === undefined ? {} : { as }) });
  if (code !== 201) throw new Error(`POST ${path}: ${code} ${text}`);
}
