import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../../base/clock.ts";
import { fixedAccess } from "../../../kube/access/access.ts";
import { ApiClient } from "../../../kube/client/api-client.ts";
import { answer, refuse, ScriptedServer } from "../../../kube/client/scripted-server.fixture.ts";
import type { Asking } from "../seen.ts";
import { failureOf } from "../../failure-of.fixture.ts";
import { seeAlerts } from "./alerts.ts";

let server: ScriptedServer;
let api: ApiClient;
let asking: Asking;

beforeEach(async () => {
  const alerts = [{ labels: { alertname: "TargetDown" } }, { labels: { alertname: "Watchdog" } }];
  server = await ScriptedServer.listen((_request, response) => answer(response, alerts));
  api = new ApiClient({ access: fixedAccess(server.url), clock: systemClock });
  asking = { api, signal: new AbortController().signal };
});

afterEach(async () => {
  api.close();
  await server.close();
});

for (const [given, service] of [
  ["monitoring/alertmanager-operated:9093", "monitoring/services/http:alertmanager-operated:9093"],
  ["http:monitoring/alertmanager:web", "monitoring/services/http:alertmanager:web"],
  ["https:openshift-monitoring/alertmanager-main:9094", "openshift-monitoring/services/https:alertmanager-main:9094"],
] as const) {
  test(`seeAlerts asks ${given} through the API server's proxy`, async () => {
    expect(await seeAlerts(asking, given)).toEqual({ value: { TargetDown: 1 } });
    expect(server.requests.map(({ url }) => url.pathname)).toEqual([
      `/api/v1/namespaces/${service}/proxy/api/v2/alerts`,
    ]);
  });
}

test("seeAlerts tells what the proxy was answered", async () => {
  server.script = (_request, response) => refuse(response, 403, "Forbidden");
  expect(await seeAlerts(asking, "https:monitoring/alertmanager:9094")).toMatchObject({ status: 403 });
});

for (const given of [
  "alertmanager",
  "monitoring/alertmanager",
  "ftp:monitoring/a:1",
  "https:/monitoring/a:1",
  "https:a:1",
]) {
  test(`seeAlerts refuses ${given}`, async () => {
    const failure = await failureOf(seeAlerts(asking, given));
    expect(failure).toMatchObject({ code: "usage" });
    expect(failure.message).toContain("it must be NAMESPACE/SERVICE:PORT, or https:NAMESPACE/SERVICE:PORT");
    expect(server.requests).toEqual([]);
  });
}
