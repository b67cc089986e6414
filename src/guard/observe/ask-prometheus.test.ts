import { afterEach, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { answer, ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { failingSince, missedSince, probesProblem } from "./ask-prometheus.ts";

const sinceMs = Date.parse("2026-05-10T17:43:00Z");
let server: ScriptedServer | undefined;

afterEach(() => server?.close());

/** A Prometheus with so many probes, of which these fail, and with these that it has no value of any more. */
async function problem(
  probes: number,
  failing: readonly object[],
  missed: readonly object[] = [],
): Promise<string | undefined> {
  server = await ScriptedServer.listen(({ url }, response) => {
    const query = url.searchParams.get("query") ?? "";
    const counted = probes === 0 ? [] : [{ metric: {}, value: [0, String(probes)] }];
    const result = query.startsWith("count") ? counted : query.startsWith("max") ? missed : failing;
    answer(response, { status: "success", data: { resultType: "vector", result } });
  });
  return await ask(server.url);
}

function ask(url: string): Promise<string | undefined> {
  return probesProblem(systemClock, { url }, sinceMs, { signal: new AbortController().signal });
}

test("probesProblem is silent when probes are there and none fails", async () => {
  expect(await problem(12, [])).toBeUndefined();
  expect(server?.paths().map(decodeURIComponent)).toEqual([
    "/api/v1/query?query=count(probe_success)",
    `/api/v1/query?query=${failingSince(sinceMs)}`,
    expect.stringContaining("unless max by (job, instance, target) (probe_success)"),
  ]);
});

test("probesProblem names what fails, and does not take silence for success", async () => {
  const failing = Array.from({ length: 7 }, (_, index) => ({ metric: { instance: `https://p${index}.example` } }));
  expect(await problem(12, failing)).toBe(
    "7 probes fail: https://p0.example, https://p1.example, https://p2.example, https://p3.example, https://p4.example and 2 more",
  );
  await server?.close();
  expect(await problem(0, [])).toBe("it has no probe_success");
});

test("probesProblem does not take a probe without a value for one that succeeds", async () => {
  const [failing, missed] = [{ metric: { instance: "site" } }, { metric: { instance: "shop" } }];
  expect(await problem(11, [failing], [missed])).toBe("1 probe fails: site; 1 probe has no value any more: shop");
});

test("missedSince looks back an hour beyond the beginning of the cause, and a day at most", () => {
  const rangeOf = (afterMs: number): string | undefined =>
    /probe_success\[(\d+)s\]/u.exec(missedSince(sinceMs, sinceMs + afterMs))?.[1];
  expect([60_000, 7_200_000, 21 * 3_600_000, 40 * 3_600_000].map(rangeOf)).toEqual(["3660", "10800", "79200", "86400"]);
  expect(missedSince(0, sinceMs)).toBe(
    "max by (job, instance, target) (max_over_time(probe_success[3600s])) unless max by (job, instance, target) (probe_success)",
  );
});

test("probesProblem says why there is no answer", async () => {
  server = await ScriptedServer.listen((_request, response) => answer(response, { status: "error" }));
  expect(await ask(server.url)).toBe("its answer is not one of Prometheus to a query");
  await server.close();
  server = undefined;
  expect(await ask("http://127.0.0.1:1")).not.toBeUndefined();
});
