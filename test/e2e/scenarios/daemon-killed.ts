import { expect, test } from "bun:test";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases } from "../networks.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { pause } from "../until.ts";

const twenty = names("killed", 20);

test("the daemon is killed again and again while 20 pods start: all of them start, once", async () => {
  const { cluster, levee } = await theInstalled();
  await cluster.pods.create(podsOn(twenty, "blue"));
  for (let kill = 1; kill <= 4; kill += 1) {
    await pause(1_000);
    await levee.restart("SIGKILL");
    say(`killed ${kill} times`);
  }
  await cluster.pods.untilReady(twenty);
  for (const name of twenty) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"]);
  expect(leases()).toHaveLength(40);
  await cluster.pods.delete(twenty);
  await pause(500);
  await levee.restart("SIGKILL");
  await cluster.pods.untilGone(twenty);
  await untilNothingIsLeft(levee);
});
