import { describe, expect, test } from "bun:test";
import type { SimEvent } from "../node/sim-event.ts";
import { CriticalLine } from "./critical-line.ts";
import { defectsInto } from "./defects-into.ts";
import { Invariants, type Broken } from "./invariants.ts";
import { SimWorld } from "./sim-world.ts";
import { defaultNetwork } from "./story.ts";

const node = "node-1";

function brokenBy(events: readonly (readonly [number, SimEvent])[]): readonly string[] {
  const invariants = new Invariants(new Map());
  for (const [atMs, event] of events) invariants.see(atMs, event);
  return invariants.broken.map(({ rule }) => rule);
}

describe("Invariants", () => {
  test("a call that takes too long breaks call-ends", () => {
    const answer = { kind: "answer", node, containerId: "c", exitCode: 0 } as const;
    expect(brokenBy([[0, { ...answer, verb: "DEL", tookMs: 54_000 }]])).toEqual([]);
    expect(brokenBy([[0, { ...answer, verb: "DEL", tookMs: 56_000 }]])).toEqual(["call-ends"]);
    expect(brokenBy([[0, { ...answer, verb: "ADD", tookMs: 56_000 }]])).toEqual([]);
  });

  test("a herd of watches breaks api-load, and a slow stream of them does not", () => {
    const watches = (everyMs: number): (readonly [number, SimEvent])[] =>
      Array.from({ length: 41 }, (_, at) => [at * everyMs, { kind: "api", what: "watch" }]);
    expect(brokenBy(watches(10))).toEqual(["api-load"]);
    expect(brokenBy(watches(500))).toEqual([]);
  });

  test("more events than are promised break api-load, and a new daemon begins anew", () => {
    const event = { kind: "request", node, method: "post", resource: "events" } as const;
    const burst = Array.from({ length: 23 }, (_, at): [number, SimEvent] => [at, event]);
    const begins: [number, SimEvent] = [12, { kind: "daemon", node, what: "starts" }];
    expect(brokenBy(burst)).toEqual(["api-load"]);
    expect(brokenBy(burst.slice(0, 22))).toEqual([]);
    expect(brokenBy(burst.map(([at, one]) => [at * 200, one]))).toEqual([]);
    expect(brokenBy([...burst.slice(0, 12), begins, ...burst.slice(12)])).toEqual([]);
  });

  test("a request that nobody has promised breaks api-load", () => {
    expect(brokenBy([[0, { kind: "request", node, method: "patch", resource: "nodes" }]])).toEqual(["api-load"]);
    expect(brokenBy([[0, { kind: "request", node, method: "patch", resource: "pods" }]])).toEqual([]);
  });

  test("a daemon that the kernel kills for memory breaks memory-bound", () => {
    expect(brokenBy([[0, { kind: "daemon", node, what: "is out of memory" }]])).toEqual(["memory-bound"]);
    expect(brokenBy([[0, { kind: "daemon", node, what: "is killed" }]])).toEqual([]);
  });

  test("a slow pod breaks prompt, unless something went wrong", () => {
    const bound = { kind: "pod", node, pod: "a/b", what: "bound" } as const;
    const running = { ...bound, what: "running" } as const;
    expect(
      brokenBy([
        [0, bound],
        [7_000, running],
      ]),
    ).toEqual([]);
    expect(
      brokenBy([
        [0, bound],
        [9_000, running],
      ]),
    ).toEqual(["prompt"]);
    expect(
      brokenBy([
        [0, bound],
        [1, { kind: "fault", what: "kill-daemon" }],
        [9_000, running],
      ]),
    ).toEqual([]);
  });
});

describe("Invariants of a node", () => {
  const pod = { name: "a", namespace: "shop", uid: "uid", isCritical: false, networks: [] };
  const runs = { id: "sandbox", pod, netns: "/run/netns/a", state: "told" } as const;

  /** A node on which nothing has been started. */
  function stillWorld(): SimWorld {
    const onEvent = (): void => undefined;
    return new SimWorld({ seed: 1, nodes: [node], networks: [], defaultNetwork, settings: {}, onEvent });
  }

  function atEnd(world: SimWorld): readonly string[] {
    const invariants = new Invariants(world.nodes);
    invariants.lookAtEnd();
    return invariants.broken.map(({ rule }) => rule);
  }

  test("a network that is taken from a pod that runs breaks live-pod, and from one that stops none", () => {
    const world = stillWorld();
    const invariants = new Invariants(world.nodes);
    const taken = { kind: "effect", node, verb: "DEL", containerId: runs.id, network: "lan", address: "10.1.0.2" };
    const sandboxes = world.nodes.get(node)?.runtime.sandboxes;
    sandboxes?.set(runs.id, { ...runs, state: "stopping" });
    invariants.see(0, taken as SimEvent);
    expect(invariants.broken).toEqual([]);
    sandboxes?.set(runs.id, runs);
    invariants.see(1, taken as SimEvent);
    expect(invariants.broken.map(({ rule }) => rule)).toEqual(["live-pod"]);
  });

  test("a daemon that is not ready breaks daemon-runs", () => {
    expect(atEnd(stillWorld())).toEqual(["daemon-runs"]);
  });

  test("a pod that is neither attached nor gone breaks pods-settle", () => {
    const world = stillWorld();
    world.nodes.get(node)?.runtime.bind(pod);
    expect(atEnd(world)).toEqual(["daemon-runs", "pods-settle"]);
  });

  test("a pod that runs without its interface or its address breaks all-attached", () => {
    const world = stillWorld();
    const found = world.nodes.get(node);
    found?.runtime.sandboxes.set(runs.id, runs);
    expect(atEnd(world)).toEqual(["daemon-runs", "all-attached", "all-attached"]);
    found?.node.kernel.leases.set(
      defaultNetwork,
      new Map([["10.1.0.2", { address: "10.1.0.2", containerId: runs.id, ifname: "eth0", sinceWallMs: 0 }]]),
    );
    expect(atEnd(world)).toEqual(["daemon-runs", "all-attached"]);
  });

  test("an error that nobody handles breaks no-defects", () => {
    const broken: Broken[] = [];
    const listeners = process.listenerCount("unhandledRejection");
    {
      using _defects = defectsInto(broken);
      process.emit("unhandledRejection", new Error("lost"), Promise.resolve());
    }
    expect(broken.map(({ rule }) => rule)).toEqual(["no-defects"]);
    expect(broken[0]?.text).toContain("lost");
    expect(process.listenerCount("unhandledRejection")).toBe(listeners);
  });
});

describe("CriticalLine", () => {
  const call = (containerId: string): SimEvent => ({ kind: "call", node, verb: "ADD", containerId });
  const run = (containerId: string): SimEvent => ({ kind: "run", node, verb: "ADD", network: "n", containerId });
  const others = Array.from({ length: 13 }, (_, number) => `other-${number}`);
  const line = (): CriticalLine => new CriticalLine((_node, id) => (id === "critical" ? ["n", "m"] : undefined));

  test("thirteen later pods that start before a critical one are too many", () => {
    const watched = line();
    const seen = [call("critical"), ...others.map(call), ...others.map(run)].map((event) => watched.see(event));
    expect(seen.filter((text) => text !== undefined)).toEqual([
      "13 later ADDs started before that of critical critical",
    ]);
  });

  test("nothing counts from when the API server takes seconds for some answers", () => {
    const watched = line();
    const slow: SimEvent = { kind: "fault", what: '{"kind":"api-slow"}' };
    const events = [slow, call("critical"), ...others.map(call), ...others.map(run)];
    expect(events.map((event) => watched.see(event)).every((text) => text === undefined)).toBe(true);
  });

  test.each([
    ["m", 0],
    ["other", 1],
  ])("it counts unless its own network hangs: while %s does, %s are told", (network, told) => {
    const watched = line();
    const hangs: SimEvent = { kind: "fault", what: JSON.stringify({ kind: "network-hangs", network }) };
    const events = [hangs, call("critical"), ...others.map(call), ...others.map(run)];
    expect(events.filter((event) => watched.see(event) !== undefined)).toHaveLength(told);
  });

  test("pods that came earlier, and pods behind it, do not count", () => {
    const watched = line();
    const events = [...others.map(call), call("critical"), ...others.map(run), run("critical")];
    expect(events.map((event) => watched.see(event)).every((text) => text === undefined)).toBe(true);
  });
});
