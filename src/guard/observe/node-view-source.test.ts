import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import type { Decision } from "../decision/decision.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { stuckPod } from "../world.fixture.ts";
import { NodeViewSource, type NodeToAsk } from "./node-view-source.ts";
import { nodesToAsk, nodesUnderRemoval } from "./nodes-to-ask.ts";
import { parseNodeView } from "./parse-node-view.ts";
import { until } from "../../base/until.fixture.ts";

const load = `# HELP levee_waiting Calls that wait for a slot
# TYPE levee_waiting gauge
levee_waiting{kind="detach",class="detach"} 3
levee_waiting{kind="attach",class="normal"} 61
levee_running{kind="attach"} 4
levee_leaks 2
levee_memory_working_set_bytes 94371840
levee_memory_limit_bytes 100663296
levee_memory_oom_kills_total 1
levee_view_last_event_age_seconds{resource="pods"} 2.5
levee_view_last_event_age_seconds{resource="networks"} 40
`;
const told = {
  waiting: 64,
  running: 4,
  leaks: 2,
  memoryBytes: 94_371_840,
  memoryLimitBytes: 100_663_296,
  oomKills: 1,
  watchAgeMs: 40_000,
};

let server: Server | undefined;
let source: NodeViewSource | undefined;

afterEach(async () => {
  await source?.close();
  server?.closeAllConnections();
  server?.close();
});

type Answer = (path: string) => { readonly status: number; readonly body: string } | undefined;

/** All daemons share one port and differ by address. Undefined: no answer. */
async function daemons(answer: Answer): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const listening = createServer((request, response) => {
    const path = `${request.socket.localAddress}${request.url}`;
    asked.push(path);
    const said = answer(path);
    if (said !== undefined) response.writeHead(said.status).end(said.body);
  });
  server = listening;
  const port = await new Promise<number>((resolve) =>
    listening.listen(0, "0.0.0.0", () => resolve((listening.address() as { port: number }).port)),
  );
  return { port, asked };
}

function open(port: number, nodes: readonly NodeToAsk[], close: ReadonlySet<string> = new Set()): NodeViewSource {
  source = new NodeViewSource({ clock: systemClock, port, wanted: () => nodes, close: () => close });
  source.start();
  return source;
}

test("parseNodeView sums up a daemon's metrics, and takes the watch that was silent longest", () => {
  expect(parseNodeView(load)).toEqual(told);
  expect(parseNodeView("levee_waiting 0\nlevee_waiting_strange 7\n")).toEqual({ waiting: 0, running: 0, leaks: 0 });
  expect(parseNodeView("levee_waiting NaN\nother 1\n")).toBeUndefined();
});

test("parseNodeView tells a node that needs no reboot from one that nobody looked at", () => {
  const mark = 'levee_node_reboot_required{node="n1"}';
  const since = 'levee_node_reboot_required_since_timestamp_seconds{node="n1"}';
  const view = (...lines: string[]): unknown => parseNodeView(["levee_waiting 0", ...lines].join("\n"));
  const calm = { waiting: 0, running: 0, leaks: 0 };
  expect(view()).toEqual(calm);
  expect(view(`${mark} 0`)).toEqual({ ...calm, isRebootRequired: false });
  expect(view(`${mark} 1`, `${since} 1780111980.25`)).toEqual({
    ...calm,
    isRebootRequired: true,
    rebootRequiredSinceMs: 1_780_111_980_250,
  });
  expect(view(`${mark} 1`)).toEqual({ ...calm, isRebootRequired: true });
});

test("NodeViewSource has each daemon's answer with its time, and counts silent daemons", async () => {
  const { port } = await daemons((path) => {
    if (path.startsWith("127.0.0.3")) return { status: 500, body: "" };
    return path.startsWith("127.0.0.4") ? { status: 200, body: "somebody else's" } : { status: 200, body: load };
  });
  const nodes = [1, 3, 4].map((index) => ({ node: `n${index}`, address: `127.0.0.${index}` }));
  const views = open(port, nodes);
  await until("all are asked", () => views.notes().join() === "2 of 3 nodes' daemons do not answer");
  expect(views.views()).toMatchObject([{ node: "n1", ...told }]);
  expect(Math.abs(systemClock.wallMs() - (views.views()[0]?.atMs ?? 0))).toBeLessThan(10_000);
});

test("NodeViewSource asks a daemon of an earlier release for all its metrics", async () => {
  const { port, asked } = await daemons((path) =>
    path.endsWith("/loadz") ? { status: 404, body: "" } : { status: 200, body: load },
  );
  const views = open(port, [{ node: "n1", address: "127.0.0.1" }], new Set(["n1"]));
  await until("it is asked a second time", () => asked.length >= 3);
  expect(asked.slice(0, 3)).toEqual(["127.0.0.1/loadz", "127.0.0.1/metrics", "127.0.0.1/metrics"]);
  expect(views.views()).toMatchObject([{ node: "n1", waiting: 64 }]);
});

test("NodeViewSource asks closely watched nodes every other second, and is not held up by those that hang", async () => {
  const { port, asked } = await daemons((path) =>
    path.startsWith("127.0.0.1/") ? { status: 200, body: load } : undefined,
  );
  const hanging = Array.from({ length: 40 }, (_, index) => ({ node: `h${index}`, address: `127.0.1.${index + 1}` }));
  const views = open(port, [...hanging, { node: "n1", address: "127.0.0.1" }], new Set(["n1"]));
  const times = (): number => asked.filter((path) => path.startsWith("127.0.0.1/")).length;
  await until("it is asked again", () => times() >= 2);
  await until("the others are given up", () => views.notes().join().startsWith("40 of 41"));
  expect(times()).toBeLessThan(6);
}, 20_000);

test("NodeViewSource asks a few nodes at a time", async () => {
  let open100 = 0;
  let most = 0;
  const { port } = await daemons(() => ({ status: 200, body: "levee_waiting 1\n" }));
  server?.on("connection", (socket) => {
    most = Math.max(most, (open100 += 1));
    socket.on("close", () => (open100 -= 1));
  });
  const nodes = Array.from({ length: 100 }, (_, index) => ({ node: `n${index}`, address: `127.0.2.${index + 1}` }));
  const views = open(port, nodes);
  await until("all answered", () => views.views().length === 100);
  // The server notices a closed connection some milliseconds later.
  expect(most).toBeLessThanOrEqual(64);
}, 20_000);

test("nodesToAsk takes nodes with a running CNI daemon and an address", () => {
  const node = (name: string, address: string): World["nodes"][number] => ({
    name,
    isReady: true,
    memoryBytes: 0,
    address,
  });
  const daemon = (name: string, changes: object = {}): ReturnType<typeof stuckPod> =>
    stuckPod(`levee-${name}`, {
      namespace: "levee-system",
      owner: "DaemonSet/levee",
      phase: "Running",
      node: name,
      ...changes,
    });
  const pods = [
    daemon("a"),
    daemon("b", { phase: "Pending" }),
    daemon("c", { namespace: "elsewhere" }),
    daemon("d"),
    daemon("e", { namespace: "kube-system", owner: "DaemonSet/kube-multus-ds" }),
  ];
  const nodes = [node("a", "10.0.0.1"), node("b", "10.0.0.2"), node("c", "10.0.0.3"), node("d", ""), node("e", "::1")];
  expect(nodesToAsk({ pods, nodes }, settings)).toEqual([
    { node: "a", address: "10.0.0.1" },
    { node: "e", address: "::1" },
  ]);
});

test("nodesUnderRemoval has the nodes of running Decisions' targets", () => {
  const decision = (phase: string, node: string): Decision =>
    ({
      spec: { steps: [{ action: "StopSource" }, { action: "RemovePods", targets: [{ node }] }] },
      status: { phase },
    }) as unknown as Decision; // only what is read
  const all = [decision("Running", "a"), decision("Approved", "b"), decision("Proposed", "c"), decision("Paused", "d")];
  expect([...nodesUnderRemoval(all)]).toEqual(["a", "b"]);
});
