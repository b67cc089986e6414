import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { KubeError, type KubeApi } from "../../kube/client/api.ts";
import { dryRunNodes } from "./dry-run-cluster.ts";
import { dryRunWord, type DryRunResult } from "./dry-run-result.ts";

type Pages = readonly (readonly unknown[])[];

/** Two nodes whose daemons have tried the network, and what whereabouts holds then. */
function apiWith(pools: Pages | number): { readonly api: KubeApi; readonly asked: string[] } {
  const asked: string[] = [];
  const poolPage = (path: string): string => {
    if (typeof pools === "number") throw refusal(pools);
    const at = Number(new URLSearchParams(path.slice(path.indexOf("?"))).get("continue") ?? 0);
    const more = at + 1 < pools.length ? { continue: String(at + 1) } : {};
    return JSON.stringify({ metadata: more, items: pools[at] ?? [] });
  };
  const call = ({ method, path }: { readonly method: string; readonly path: string }): Promise<string> => {
    asked.push(`${method} ${path}`);
    const [, node] = /nodes\/http:(\w+):9810\/proxy\/dryrunz\/prod\/check-1$/u.exec(path) ?? [];
    if (node !== undefined) return Promise.resolve(JSON.stringify(answers[node] ?? {}));
    if (path.includes("/ippools")) return Promise.try(() => poolPage(path));
    return Promise.resolve('{"metadata": {"name": "check-1"}, "items": []}');
  };
  const lines = (): never => {
    throw new Error("nothing is watched");
  };
  return { api: { call, lines }, asked };
}

function refusal(status: number): KubeError {
  return new KubeError("api-refused", "no", { status });
}

const passed = { network: "prod/lan", state: "passed", step: "compare", reason: "", remedy: "", tookMs: 9 };
const answers: Readonly<Record<string, object>> = {
  a: { ...passed, id: "prod/check-1", containerId: "levee-dry-run-0a", addresses: [] },
  b: { ...passed, id: "prod/check-1", containerId: "levee-dry-run-0b", addresses: [] },
  // An older daemon does not name the container.
  old: { ...passed, id: "prod/check-1", addresses: [] },
  c: {
    ...passed,
    id: "prod/check-1",
    containerId: "levee-dry-run-0c",
    state: "failed",
    step: "ADD",
    reason: "no address",
    addresses: [],
  },
};

function pool(range: string, holders: Readonly<Record<string, string>>): unknown {
  const allocations = Object.entries(holders).map(([offset, id]) => [offset, { id, podref: "prod/x" }]);
  return { metadata: { name: range.replace("/", "-") }, spec: { range, allocations: Object.fromEntries(allocations) } };
}

async function resultsOf(pools: Pages | number, nodes = ["a", "b", "c"]): Promise<readonly string[]> {
  const { api } = apiWith(pools);
  const results = await tried(api, nodes);
  return [...results].map(([node, result]) => `${node} ${dryRunWord(result)} ${result.reason}`.trim());
}

function tried(api: KubeApi, nodes: readonly string[]): Promise<ReadonlyMap<string, DryRunResult>> {
  const signal = new AbortController().signal;
  return dryRunNodes({ api, clock: systemClock, network: "prod/lan", nodes, metricsPort: 9810, signal });
}

test("dryRunNodes: an address that whereabouts still holds fails the node that tried it, and no other", async () => {
  const full = pool("10.1.0.0/24", { "5": "levee-dry-run-0a", "6": "abc", "7": "levee-dry-run-0c" });
  const six = pool("fd00::/64", { "9": "levee-dry-run-0a" });
  expect(await resultsOf([[full], [six]])).toEqual([
    "a failed at compare The plugins succeeded, but whereabouts still holds 10.1.0.5, fd00::9 for the dry run",
    "b passed",
    "c failed at ADD no address",
  ]);
});

test.each([
  ["no pool has the mark", [[pool("10.1.0.0/24", { "5": "abc" })]]],
  ["a pool cannot be read", [[{ spec: { range: "x", allocations: { "5": { id: "levee-dry-run-0a" } } } }, 5]]],
  ["whereabouts is not installed", 404],
  ["this user may not see its pools", 403],
] as const)("dryRunNodes: passed stays passed where %s", async (_what, pools) => {
  expect(await resultsOf(pools)).toEqual(["a passed", "b passed", "c failed at ADD no address"]);
});

test("dryRunNodes takes the word of an older daemon, which does not name its container", async () => {
  expect(await resultsOf([[pool("10.1.0.0/24", { "5": "levee-dry-run-0a" })]], ["old"])).toEqual(["old passed"]);
});

test("dryRunNodes asks for no pool where nothing has passed, and removes its request in any case", async () => {
  const failing = apiWith([[]]);
  await tried(failing.api, ["c"]);
  expect(failing.asked.filter((request) => request.includes("ippools"))).toEqual([]);
  const broken = apiWith(500);
  expect(await tried(broken.api, ["a"]).catch((thrown: unknown) => thrown)).toBeInstanceOf(KubeError);
  for (const { asked } of [failing, broken])
    expect(asked).toContain("DELETE /apis/levee.dev/v1alpha1/namespaces/prod/networkdryruns/check-1");
});
