import { beforeEach, describe, expect, test } from "bun:test";
import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import { keyOfObject } from "../cluster-life.ts";
import { jobObject, shopNamespace, simNodes, stuckPodObject, tenantNamespace } from "../cluster-objects.ts";
import { guardStoryOfSeed } from "../guard-story.ts";
import { GuardWorld } from "../guard-world.ts";
import { act } from "../play-acts.ts";
import { runsStill, ownerOf, placeShop } from "./owned-pods.ts";

const drainOfNode1 = { kind: "drain", atMs: 0, forMs: 120_000, node: "node-1", everyMs: 1_000 } as const;
/** `shop/web` is the only Deployment. */
const rolloutOfWeb = { kind: "rollout", atMs: 0, pick: 0, everyMs: 1_000 } as const;

/** A cluster without a guard. */
let world: GuardWorld;

beforeEach(() => {
  const nothing = (): void => undefined;
  const on = { onEvent: nothing, onWrite: nothing, onReboot: nothing };
  world = new GuardWorld({ seed: 1, guards: 0, nodes: simNodes, policies: [], ...on });
  world.start();
  placeShop(world);
});

async function pass(ms: number): Promise<void> {
  await world.time.run(world.time.nowMs + ms, () => false);
}

function podsOf(namespace: string): readonly JsonObject[] {
  return world.api.objects("pods").filter((pod) => objectOf(pod["metadata"])["namespace"] === namespace);
}

function nodeOf(pod: JsonObject): string {
  return textOf(objectOf(pod["spec"])["nodeName"]);
}

function webPods(): readonly JsonObject[] {
  return podsOf(shopNamespace).filter((pod) => ownerOf(pod).startsWith("ReplicaSet/web-"));
}

function available(): unknown {
  return objectOf(world.api.get("deployments", `${shopNamespace}/web`)?.["status"])["availableReplicas"];
}

function placePod(name: string, namespace: string, owner?: string): void {
  const time = new Date(world.time.wallMs).toISOString();
  const owned = owner === undefined ? {} : { owner };
  world.create("pods", namespace, stuckPodObject({ namespace, name, node: "node-1", time, ...owned }));
}

describe("a drain", () => {
  test("cordons its node, whose pods come up elsewhere one after another, and uncordons it at its end", async () => {
    placePod("rd-browser-1", tenantNamespace);
    expect(webPods().some((pod) => nodeOf(pod) === "node-1")).toBe(true);
    act(world, drainOfNode1);
    expect(world.fleet.isCordoned("node-1")).toBe(true);
    await pass(110_000);
    const there = world.api.objects("pods").filter((pod) => nodeOf(pod) === "node-1");
    expect(there.every((pod) => ownerOf(pod).startsWith("DaemonSet/"))).toBe(true);
    expect(webPods().filter(runsStill)).toHaveLength(4);
    expect(available()).toBe(4);
    const [again, ...others] = podsOf(tenantNamespace);
    expect([others, ownerOf(again ?? {}), textOf(objectOf(again?.["status"])["phase"])]).toEqual([[], "", "Pending"]);
    await pass(20_000);
    expect(world.fleet.isCordoned("node-1")).toBe(false);
  });

  test("leaves away what nobody makes any more: pods of a suspended Job, and those that admission refuses", async () => {
    world.create("jobs", shopNamespace, jobObject("nightly", 1));
    placePod("nightly-0", shopNamespace, "Job/nightly");
    placePod("rd-browser-1", tenantNamespace);
    world.server.change({ account: "person", name: "bob" }, "namespaces", `/${tenantNamespace}`, {
      metadata: { labels: { "levee.dev/ownerless-pods": "deny" } },
    });
    const job = world.api.get("jobs", `${shopNamespace}/nightly`);
    world.api.put("jobs", { ...job, spec: { parallelism: 1, suspend: true } });
    act(world, drainOfNode1);
    await pass(300_000);
    expect(podsOf(tenantNamespace)).toEqual([]);
    expect(podsOf(shopNamespace).filter((pod) => ownerOf(pod) === "Job/nightly")).toEqual([]);
  });
});

describe("a rollout", () => {
  test("replaces the pods of a Deployment one by one, each when the new one runs", async () => {
    const before = new Set(webPods().map(keyOfObject));
    act(world, rolloutOfWeb);
    for (let second = 0; second < 30; second += 1) {
      await pass(1_000);
      expect(webPods().filter(runsStill).length).toBeGreaterThanOrEqual(4);
    }
    expect(webPods().filter(runsStill)).toHaveLength(4);
    expect(webPods().filter((pod) => before.has(keyOfObject(pod)))).toEqual([]);
    expect(available()).toBe(4);
  });

  test("stands still while new pods get no network, and the old ones serve on", async () => {
    world.life.killedSince = new Date(world.time.wallMs).toISOString();
    act(world, rolloutOfWeb);
    await pass(60_000);
    expect(webPods().filter(runsStill)).toHaveLength(4);
    expect(webPods()).toHaveLength(5);
  });

  test("of the DaemonSet replaces a pod on each node", async () => {
    act(world, { ...rolloutOfWeb, pick: 1 });
    await pass(30_000);
    const daemons = podsOf("levee-system").map((pod) => textOf(objectOf(pod["metadata"])["name"]));
    expect(daemons.toSorted()).toEqual(["levee-node-1-2", "levee-node-2-2", "levee-node-3-2"]);
  });
});

test("guardStoryOfSeed has drains and rollouts in some stories, and not in most", () => {
  const kinds = Array.from({ length: 60 }, (_, seed) => guardStoryOfSeed(seed).acts.map(({ kind }) => kind));
  for (const kind of ["drain", "rollout"] as const) {
    const stories = kinds.filter((story) => story.includes(kind)).length;
    expect(stories).toBeGreaterThan(5);
    expect(stories).toBeLessThan(30);
  }
});
