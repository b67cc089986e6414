import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { dryRunNodes } from "../../src/cli/check/dry-run-cluster.ts";
import { dryRunWord } from "../../src/cli/check/dry-run-result.ts";
import { DryRunDesk } from "../../src/daemon/dry-run/dry-run-desk.ts";
import { DryRunRequests } from "../../src/daemon/dry-run/dry-run-request.ts";
import type { KubeApi } from "../../src/kube/client/api.ts";

/** The command beside the desk of a daemon, with an API server that has its request and the pool of whereabouts. */
function setUp(keeps: boolean) {
  const held: string[] = [];
  const run = ({ containerId }: { readonly containerId: string }): Promise<void> => {
    if (keeps) held.push(containerId);
    return Promise.resolve();
  };
  const desk = new DryRunDesk({ clock: systemClock, logger: silentLogger, dryRun: { run } });
  const request = { namespace: "prod", name: "check-1", uid: "u", network: "lan", nodes: [] };
  const requests = new DryRunRequests({
    clock: systemClock,
    nodeName: "a",
    desk,
    read: () => Promise.resolve({ ...request, createdWallMs: systemClock.wallMs() }),
  });
  const call = async ({ path }: { readonly path: string }): Promise<string> => {
    if (path.includes("/proxy/dryrunz/")) return JSON.stringify(await requests.answer("prod", "check-1"));
    if (!path.includes("/ippools")) return '{"metadata": {"name": "check-1"}, "items": []}';
    const allocations = Object.fromEntries(held.map((id, at) => [String(at + 5), { id, podref: `prod/${id}` }]));
    return JSON.stringify({ metadata: {}, items: [{ spec: { range: "10.1.0.0/24", allocations } }] });
  };
  const api = { call, lines: () => Promise.reject(new Error("nothing is watched")) } as unknown as KubeApi;
  return { api, desk };
}

async function tried(keeps: boolean): Promise<string> {
  const { api } = setUp(keeps);
  const signal = new AbortController().signal;
  const of = { api, clock: systemClock, network: "prod/lan", nodes: ["a"], metricsPort: 9810, signal };
  const result = (await dryRunNodes(of)).get("a");
  return result === undefined ? "" : `${dryRunWord(result)} ${result.reason}`.trim();
}

test("an address that whereabouts keeps for the container of a dry run fails it, as the desk names that container", async () => {
  expect(await tried(true)).toBe(
    "failed at compare The plugins succeeded, but whereabouts still holds 10.1.0.5 for the dry run",
  );
  expect(await tried(false)).toBe("passed");
});

test("each run of a desk has a container of its own, whoever names the request", async () => {
  const { desk } = setUp(false);
  const ids: string[] = [];
  for (const id of [undefined, "prod/check-1", "prod/check-2"]) {
    const begun = desk.begin({ namespace: "prod", name: "lan" }, id);
    ids.push(String(begun.containerId));
    await systemClock.sleep(1);
    expect(desk.answer(begun.id)).toMatchObject({ state: "passed", containerId: begun.containerId });
  }
  expect(new Set(ids).size).toBe(3);
  expect(ids.every((id) => /^levee-dry-run-[0-9a-f]{16}$/u.test(id))).toBe(true);
});
