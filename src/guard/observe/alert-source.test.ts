import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { AlertSource } from "./alert-source.ts";
import { parseAlerts } from "./parse-alerts.ts";
import { until } from "../../base/until.fixture.ts";

const servers: Server[] = [];
let source: AlertSource | undefined;

afterEach(async () => {
  await source?.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** An Alertmanager that gives this answer and keeps the requests. */
async function manager(body: string, status = 200): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body);
  });
  servers.push(server);
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
  );
  return { url: `http://127.0.0.1:${port}`, asked };
}

function open(urls: readonly string[], cluster = ""): AlertSource {
  const alertmanagers = urls.map((url) => ({ url }));
  source = new AlertSource({ clock: systemClock, logger: silentLogger, alertmanagers, cluster });
  source.start();
  return source;
}

function alert(labels: Readonly<Record<string, string>>, startsAt = "2026-05-10T18:00:00Z"): object {
  return { labels, startsAt, endsAt: "2026-05-10T20:00:00Z", status: { state: "active" }, annotations: { a: "x" } };
}

test("AlertSource has the alerts of its cluster from the first Alertmanager that answers", async () => {
  const dead = await manager("no", 503);
  const alive = await manager(JSON.stringify([alert({ alertname: "TargetDown", namespace: "shop" })]));
  const alerts = open([dead.url, alive.url], 'a.b"c');
  await until("an alert is heard", () => alerts.alerts().length === 1);
  expect(alerts.alerts()).toEqual([
    { name: "TargetDown", labels: { namespace: "shop" }, startsMs: Date.parse("2026-05-10T18:00:00Z") },
  ]);
  expect(alerts.notes()).toEqual([]);
  const filter = new URL(`http://x${alive.asked[0]}`).searchParams.get("filter");
  expect(filter).toBe('cluster=~"|a\\\\.b\\"c"');
});

for (const [what, body, status, why] of [
  ["refuses", "no", 403, "status 403; it demands a token: add token=FILE"],
  ["tells nonsense", "<html>", 200, "its answer is not JSON"],
  ["tells something else", "{}", 200, "not a list of alerts"],
  ["tells more than can be read", `[${" ".repeat(4_200_000)}]`, 200, "4194304 bytes"],
] as const) {
  test(`AlertSource says so in a note when Alertmanager ${what}, and has no alerts`, async () => {
    const { url } = await manager(body, status);
    const alerts = open([url]);
    await until("a note", () => alerts.notes().length === 1);
    expect(alerts.notes()[0]).toContain(`${url}: `);
    expect(alerts.notes()[0]).toContain(why);
    expect(alerts.alerts()).toEqual([]);
  });
}

test("AlertSource notes an unreachable Alertmanager, and sends nothing without one", async () => {
  const { url } = await manager("[]");
  servers[0]?.close();
  const alerts = open([url]);
  await until("a note", () => alerts.notes().length === 1);
  await alerts.close();
  expect(open([]).notes()).toEqual([]);
});

test("parseAlerts keeps other clusters' alerts out, and of each its labels, cleaned", () => {
  const text = JSON.stringify([
    alert({ alertname: "A\u001b[31m", cluster: "prod", pod: "x\u202e\ny", mountpoint: "/" }),
    alert({ alertname: "B", cluster: "test" }),
    alert({ alertname: "C" }, "nonsense"),
    alert({ alertname: "" }),
    "nonsense",
    { labels: 7 },
  ]);
  expect(parseAlerts(text, "prod")).toEqual({
    alerts: [
      {
        name: "A",
        labels: { cluster: "prod", pod: "x y", mountpoint: "/" },
        startsMs: Date.parse("2026-05-10T18:00:00Z"),
      },
      { name: "C", labels: {}, startsMs: 0 },
    ],
    omitted: 0,
  });
  expect(parseAlerts(text, "").alerts.map(({ name }) => name)).toEqual(["A", "B", "C"]);
});

test("parseAlerts looks at 2,000 alerts, cuts long labels and counts the rest", () => {
  const many = Array.from({ length: 2_100 }, (_, index) => alert({ alertname: `A${index}`, pod: "p".repeat(1_000) }));
  const { alerts, omitted } = parseAlerts(JSON.stringify(many), "");
  expect([alerts.length, omitted, alerts[0]?.labels["pod"]?.length]).toEqual([2_000, 100, 253]);
});
