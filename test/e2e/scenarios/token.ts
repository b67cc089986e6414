import { expect, test } from "bun:test";
import { Api, ApiFailure } from "../api.ts";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { apiUrl } from "../node/api-server.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { podsOn } from "../the-levee.ts";

test("the keys of all tokens are replaced, and the old token is worth nothing: the daemon goes on with the new one", async () => {
  const { cluster, levee } = await theInstalled();
  const { pid } = levee.daemon;
  const oldToken = await levee.token();
  await cluster.replaceAccountKeys();
  const asBefore = new Api(apiUrl, cluster.caFile, () => oldToken);
  expect(await refusal(asBefore.list("/api/v1/pods"))).toBe(401);
  say("the old token is refused");
  await cluster.pods.run(podsOn(["rotated"], "blue"));
  await untilTrueStatus(() => cluster.pods.get("rotated"), ["default/blue"], { timeoutMs: 90_000 });
  expect(levee.daemon.pid).toBe(pid);
  await cluster.pods.remove(["rotated"]);
  await untilNothingIsLeft(levee);
});

test("the daemon's rights end at the network status of its own node's pods", async () => {
  const { cluster, levee } = await theInstalled();
  const token = await levee.token();
  const asDaemon = new Api(apiUrl, cluster.caFile, () => token);
  await cluster.pods.run(podsOn(["rights"], "blue"));
  const pod = "/api/v1/namespaces/default/pods/rights";
  expect(await refusal(asDaemon.delete(pod))).toBe(403);
  expect(await refusal(asDaemon.patch(pod, { metadata: { annotations: { any: "thing" } } }))).toBe(403);
  expect(await refusal(asDaemon.patch(`${pod}/status`, { metadata: { annotations: { any: "thing" } } }))).toBe(403);
  expect(await refusal(asDaemon.patch(`${pod}/status`, { metadata: { labels: { any: "thing" } } }))).toBe(403);
  expect(await refusal(asDaemon.list("/api/v1/secrets"))).toBe(403);
  await cluster.pods.remove(["rights"]);
});

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
