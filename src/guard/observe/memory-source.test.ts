import { afterEach, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { until } from "../../base/until.fixture.ts";
import { answer, ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import type { MemoryQuestion } from "../facts/memory-past.ts";
import { MemorySource } from "./memory-source.ts";

const question: MemoryQuestion = {
  ...{ key: "u/c", limit: "1Gi", namespace: "kube-system", daemonSet: "kube-multus.ds", container: "kube-multus" },
  ...{ lengthMs: 604_800_000, isTried: false },
};
let server: ScriptedServer | undefined;
let source: MemorySource | undefined;
/** How far the clock is ahead; a sleep ends at once when it moves. */
let aheadMs = 0;
let wanted: readonly MemoryQuestion[] = [question];
let isWell = true;

const clock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  wallMs: () => 1_800_000_000_000 + aheadMs,
  sleep: (_ms, signal) => systemClock.sleep(5, signal),
};

afterEach(async () => {
  await source?.close();
  await server?.close();
  [aheadMs, wanted, isWell, server, source] = [0, [question], true, undefined, undefined];
});

/** A Prometheus that has 40 bytes of everything, but no kill. */
async function start(): Promise<{ readonly server: ScriptedServer; readonly source: MemorySource }> {
  server = await ScriptedServer.listen(({ url }, response) => {
    const query = url.searchParams.get("query") ?? "";
    const result = query.startsWith("topk(5") ? [] : [{ metric: { pod: "p1" }, value: [0, "40"] }];
    answer(response, isWell ? { status: "success", data: { resultType: "vector", result } } : { status: "error" });
  });
  const prometheus = { url: server.url };
  source = new MemorySource({ clock, logger: silentLogger, prometheus, cluster: "", wanted: () => wanted });
  source.start();
  return { server, source };
}

async function heard(begun: MemorySource): Promise<void> {
  await until("an answer", () => begun.pasts().some(({ atMs }) => atMs > 0));
}

function queries(): readonly string[] {
  return (server?.requests ?? []).map(({ url }) => url.searchParams.get("query") ?? "");
}

test("MemorySource asks for a whole week, of this container alone and at the guard's time", async () => {
  const begun = await start();
  await heard(begun.source);
  expect(begun.source.pasts()[0]).toEqual({
    ...{ key: "u/c", limit: "1Gi", fromMs: 1_799_395_200_000, atMs: 1_800_000_000_000, unread: "" },
    ...{ peakBytes: 40, peakPod: "p1", quarters: new Map([["p1", 40]]), killed: [], counted: 40 },
  });
  const where = '{namespace="kube-system",pod=~"kube-multus[.]ds-[a-z0-9]+",container="kube-multus"}';
  expect(queries()).toHaveLength(4);
  expect(queries()[0]).toBe(
    `topk(1, max by (pod) (max_over_time(container_memory_working_set_bytes${where}[604800s])))`,
  );
  const times = new Set(begun.server.requests.map(({ url }) => url.searchParams.get("time")));
  expect([...times]).toEqual(["1800000000"]);
  expect(begun.source.uses()).toEqual([]);
});

test("MemorySource asks again after a quarter of an hour, and every minute for what is used while less is tried", async () => {
  const begun = await start();
  await heard(begun.source);
  aheadMs = 60_000;
  await systemClock.sleep(30);
  expect(queries()).toHaveLength(4);
  aheadMs = 900_000;
  await until("another one", () => begun.source.pasts()[0]?.atMs === 1_800_000_900_000);
  expect(queries()).toHaveLength(8);
  wanted = [{ ...question, isTried: true }];
  await until("the use", () => begun.source.uses().length > 0);
  expect(begun.source.uses()).toEqual([{ namespace: "kube-system", pod: "p1", atMs: 40_000, usedBytes: 40 }]);
  aheadMs = 960_000;
  await until("the use again", () => queries().length === 12);
  wanted = [];
  await until("nothing is kept", () => begun.source.pasts().length === 0);
});

test("MemorySource keeps the last answer with its time when there is no newer one, and asks again in a minute", async () => {
  const begun = await start();
  await heard(begun.source);
  isWell = false;
  aheadMs = 900_000;
  await until("a failure", () => begun.source.pasts()[0]?.unread !== "");
  expect(begun.source.pasts()[0]).toMatchObject({ atMs: 1_800_000_000_000, peakBytes: 40 });
  isWell = true;
  aheadMs = 960_000;
  await until("an answer again", () => begun.source.pasts()[0]?.unread === "");
  // Of another limit nothing is known.
  isWell = false;
  wanted = [{ ...question, limit: "2Gi" }];
  await until("the other one", () => begun.source.pasts()[0]?.limit === "2Gi");
  expect(begun.source.pasts()[0]).toMatchObject({
    atMs: 0,
    peakBytes: 0,
    unread: expect.stringContaining("not one of"),
  });
});

test("MemorySource asks nobody without a Prometheus", async () => {
  source = new MemorySource({ clock, logger: silentLogger, prometheus: undefined, cluster: "", wanted: () => wanted });
  source.start();
  expect(source.pasts()).toEqual([]);
});
