import { expect, test } from "bun:test";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases } from "../networks.ts";
import { say } from "../say.ts";
import { names, podsOn, theScene } from "../the-levee.ts";
import { pause } from "../until.ts";

const before = names("rolling-a", 6);
const after = names("rolling-b", 6);

test("a rolling update with both daemons alive for a moment: the second waits, takes over, and no pod fails", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.create(podsOn(before, "blue"));
  levee.successor.start();
  await pause(2_000);
  expect(levee.daemon.isRunning && levee.successor.isRunning).toBe(true);
  await cluster.pods.create(podsOn(after, "blue"));
  await pause(300);
  await levee.daemon.stop();
  say("the first daemon has ended");
  await levee.untilServing(levee.successor);
  const all = [...before, ...after];
  await cluster.pods.untilReady(all);
  for (const name of all) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"]);
  expect(leases()).toHaveLength(all.length * 2);
  levee.daemon.start();
  await pause(1_000);
  await levee.successor.stop();
  await levee.untilServing();
  await cluster.pods.remove(all);
  await untilNothingIsLeft(levee);
});
