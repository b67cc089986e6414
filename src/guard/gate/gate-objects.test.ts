import { expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { FakeApi, page } from "../../kube/client/fake-api.fixture.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { GateObjects } from "./gate-objects.ts";

test("GateObjects knows no gates before it has listed them, and then those that there are", async () => {
  const api = new FakeApi();
  api.onCall = ({ pathname }) => page("10", pathname.endsWith("/rebootgates") ? [{ metadata: { name: "n1" } }] : []);
  const clock = new ManualClock();
  const objects = new GateObjects({ api, clock, logger: silentLogger, namespace: "levee-system" });
  expect(objects.known()).toBeUndefined();
  await clock.advance(1_000);
  expect(objects.known()?.map(({ node, verdict }) => `${node} ${verdict}`)).toEqual(["n1 Unknown"]);
  await objects.close();
});
