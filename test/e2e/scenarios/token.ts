import { expect, test } from "bun:test";
import { Api, ApiFailure } from "../api.ts";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { apiUrl } from "../node/api-server.ts";
import { say } from "../say.ts";
import { podsOn, theScene } from "../the-levee.ts";
import { until } from "../until.ts";

test("the token is rotated and the old one is worth nothing: the daemon goes on with the new one", async () => {
  const { cluster, levee } = await theScene();
  const oldToken = levee.token;
  await levee.renewToken();
  expect(levee.token).not.toBe(oldToken);
  const asBefore = new Api(apiUrl, cluster.caFile, () => oldToken);
  await until("the old token is refused", () => isRefused(asBefore, 401), { timeoutMs: 90_000, everyMs: 1_000 });
  say("the old token is refused");
  // Connections made with the old token end as well, so that the view must be followed with the new one.
  await cluster.apiServer.restart("SIGKILL");
  await until("the API server is ready", async () => (await cluster.api.isReady()) || undefined);
  await cluster.pods.run(podsOn(["rotated"], "blue"));
  await untilTrueStatus(() => cluster.pods.get("rotated"), ["default/blue"]);
  await cluster.pods.remove(["rotated"]);
  await untilNothingIsLeft(levee);
});

test("the daemon's rights end at the network status of its own node's pods", async () => {
  const { cluster, levee } = await theScene();
  const asDaemon = new Api(apiUrl, cluster.caFile, () => levee.token);
  await cluster.pods.run(podsOn(["rights"], "blue"));
  const pod = "/api/v1/namespaces/default/pods/rights";
  expect(await refusal(asDaemon.delete(pod))).toBe(403);
  expect(await refusal(asDaemon.patch(pod, { metadata: { annotations: { any: "thing" } } }))).toBe(403);
  expect(await refusal(asDaemon.patch(`${pod}/status`, { metadata: { annotations: { any: "thing" } } }))).toBe(403);
  expect(await refusal(asDaemon.patch(`${pod}/status`, { metadata: { labels: { any: "thing" } } }))).toBe(403);
  expect(await refusal(asDaemon.list("/api/v1/secrets"))).toBe(403);
  await cluster.pods.remove(["rights"]);
});

async function isRefused(api: Api, status: number): Promise<true | undefined> {
  return (await refusal(api.list("/api/v1/pods"))) === status ? true : undefined;
}

/** The HTTP status with which something was refused; 200 when it was not. */
async function refusal(request: Promise<unknown>): Promise<number> {
  try {
    await request;
    return 200;
  } catch (thrown) {
    if (thrown instanceof ApiFailure) return thrown.status;
    throw thrown;
  }
}
