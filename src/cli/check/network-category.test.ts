import { expect, test } from "bun:test";
import { readyPod } from "../../guard/world.fixture.ts";
import { metricsOf } from "../../wire/metric-lines.ts";
import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { networkCategory } from "./network-category.ts";

const changedMs = Date.parse("2026-05-10T19:00:00Z");
const seconds = changedMs / 1_000;

/** Only what these lines look at. */
function seen(changes: Partial<Snapshot> = {}): Snapshot {
  const at = (name: string, createdMs: number, networks: string): object => ({
    ...readyPod(name, { createdMs, networks }),
    isRefusable: false,
  });
  const pods = [
    at("a", changedMs - 1, "prod/lan"),
    at("b", changedMs + 60_000, "prod/lan"),
    at("c", changedMs - 1, "prod/wan"),
  ];
  return {
    nowMs: changedMs,
    guard: { value: {} },
    lease: { value: undefined },
    pods: { value: pods },
    ...changes,
  } as unknown as Snapshot;
}

function guardSays(text: string): DaemonMetrics {
  return { nodes: new Map(), guards: new Map([["g-1", { value: metricsOf(`levee_guard_leader 1\n${text}`) }]]) };
}

function counts(changed: number, deleted: number, overlap: number): string {
  return Object.entries({ changed, deleted, overlap })
    .map(([kind, count]) => `levee_guard_network_warnings{kind="${kind}"} ${count}\n`)
    .join("");
}

test("networkCategory names the networks that the guard warns of, and the pods that are older than the change", () => {
  const text = `${counts(1, 1, 1)}levee_guard_network_changed_timestamp_seconds{network="prod/lan",kind="changed"} ${seconds}
levee_guard_network_changed_timestamp_seconds{network="prod/gone",kind="deleted"} ${seconds}
levee_guard_network_overlap{network="prod/wan"} 1\n`;
  expect(networkCategory(seen(), guardSays(text)).lines).toMatchObject([
    {
      code: "LVE0801",
      state: "warning",
      detail: "2 network definitions",
      evidence: {
        "prod/lan": "changed at 2026-05-10T19:00:00Z: fc-desktop/a uses it",
        "prod/gone": "deleted at 2026-05-10T19:00:00Z",
      },
    },
    { code: "LVE0802", state: "warning", evidence: { "prod/wan": "gives addresses of an older definition" } },
  ]);
});

test("networkCategory is well when the guard says so, and knows nothing when the guard is silent or away", () => {
  const states = (metrics: DaemonMetrics, changes: Partial<Snapshot> = {}): readonly string[] =>
    networkCategory(seen(changes), metrics)
      .lines.filter(({ code }) => code !== "LVE0803")
      .map(({ state, detail }) => `${state} ${detail}`);
  expect(states(guardSays(counts(0, 0, 0)))).toEqual(["ok ", "ok "]);
  expect(states(guardSays(""))[0]).toBe(
    "warning not known: the guard that leads cannot read network definitions, or is older",
  );
  const away = { why: "no route", status: undefined };
  expect(states({ nodes: new Map(), guards: new Map([["g-1", away]]) })).toEqual([
    "warning not known: no route",
    "warning not known: no route",
  ]);
  expect(states({ nodes: new Map(), guards: new Map() }, { guard: { value: undefined } })).toEqual([]);
});

test("networkCategory warns of ranges with few addresses left, and fails at the first that has none", () => {
  const room = (network: string, total: number, left: number): string =>
    `levee_network_addresses{network="${network}"} ${total}\nlevee_network_addresses_left{network="${network}"} ${left}\n`;
  const lineOf = (text: string): ReturnType<typeof networkCategory>["lines"][number] | undefined =>
    networkCategory(seen(), { nodes: new Map([["n1", { value: metricsOf(text) }]]), guards: new Map() }).lines.at(-1);
  expect(lineOf("")).toMatchObject({ code: "LVE0803", state: "ok", detail: "0 ranges on 1 node" });
  // A tenth is enough.
  expect(lineOf(room("prod/lan", 250, 25))).toMatchObject({ state: "ok", detail: "1 range on 1 node" });
  expect(lineOf(room("prod/lan", 250, 24) + room("prod/wan", 10, 9))).toMatchObject({
    state: "warning",
    detail: "1 of 2 ranges have few or none",
    evidence: { "prod/lan on n1": "24 of 250 left" },
  });
  expect(lineOf(room("prod/lan", 250, 24) + room("prod/wan", 10, 0))?.state).toBe("failed");
});

test("networkCategory counts the ranges of whereabouts, which the guard tells, beside those of the nodes", () => {
  const room = (left: number): string =>
    `levee_guard_network_addresses{network="prod/lan"} 62\nlevee_guard_network_addresses_left{network="prod/lan"} ${left}\n`;
  const lineOf = (
    left: number,
    nodes: DaemonMetrics["nodes"],
  ): ReturnType<typeof networkCategory>["lines"][number] | undefined =>
    networkCategory(seen(), { ...guardSays(counts(0, 0, 0) + room(left)), nodes }).lines.at(-1);
  const one: DaemonMetrics["nodes"] = new Map([["n1", { value: metricsOf("") }]]);
  expect(lineOf(30, one)).toMatchObject({
    code: "LVE0803",
    state: "ok",
    detail: "0 ranges on 1 node, 1 in the cluster",
  });
  expect(lineOf(6, new Map())).toMatchObject({
    state: "warning",
    detail: "1 of 1 range have few or none",
    evidence: { "prod/lan in the cluster": "6 of 62 left" },
  });
  expect(lineOf(0, one)?.state).toBe("failed");
});

test("networkCategory warns of nodes with ready networks in doubt, and says nothing of daemons that do not count them", () => {
  const linesOf = (...texts: readonly string[]): readonly string[] => {
    const nodes = new Map(texts.map((text, at) => [`n${at + 1}`, { value: metricsOf(text) }]));
    return networkCategory(seen(), { nodes, guards: new Map() })
      .lines.filter(({ code }) => code === "LVE0804")
      .map(({ state, detail, evidence }) => `${state} ${detail} ${JSON.stringify(evidence)}`);
  };
  expect(linesOf("levee_networks_doubtful 0", "levee_networks_doubtful 2", "")).toEqual([
    'warning on 1 of 2 nodes {"n2":"2 networks"}',
  ]);
  expect(linesOf("levee_networks_doubtful 0", "levee_networks_doubtful 0")).toEqual(["ok 2 nodes {}"]);
  expect(linesOf("")).toEqual([]);
});
