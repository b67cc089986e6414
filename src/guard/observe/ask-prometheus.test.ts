import { afterEach, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { answer, ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { failingSince, probesProblem } from "./ask-prometheus.ts";

const sinceMs = Date.parse("2026-05-10T17:43:00Z");
let server: ScriptedServer | undefined;

afterEach(() => server?.close());

/** A Prometheus with so many probes, of which these fail. */
async function problem(probes: number, failing: readonly object[]): Promise<string | undefined> {
  server = await ScriptedServer.listen(({ url }, response) => {
    const isCount = url.searchParams.get("query") === "count(probe_success)";
    const result = isCount ? (probes === 0 ? [] : [{ metric: {}, value: [0, String(probes)] }]) : failing;
    answer(response, { status: "success", data: { resultType: "vector", result } });
  });
  return await ask(server.url);
}

function ask(url: string): Promise<string | undefined> {
  return probesProblem(systemClock, { url }, sinceMs, new AbortController().signal);
}

test("probesProblem is silent when probes are there and none fails", async () => {
  expect(await problem(12, [])).toBeUndefined();
  expect(server?.paths().map(decodeURIComponent)).toEqual([
    "/api/v1/query?query=count(probe_success)",
    `/api/v1/query?query=${failingSince(sinceMs)}`,
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

test("probesProblem says why there is no answer", async () => {
  server = await ScriptedServer.listen((_request, response) => answer(response, { status: "error" }));
  expect(await ask(server.url)).toBe("its answer is not one of Prometheus to a query");
  await server.close();
  server = undefined;
  expect(await ask("http://127.0.0.1:1")).not.toBeUndefined();
});
