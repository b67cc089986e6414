import { expect, test } from "bun:test";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases } from "../networks.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { pause } from "../until.ts";

const awayMs = 60_000;
const [gone = "", stays = ""] = names("without", 2);

test("60 s without a daemon leave the node ready; deletes succeed and are carried out, adds wait for it", async () => {
  const { cluster, levee } = await theInstalled();
  await cluster.pods.run(podsOn([gone, stays], "blue"));
  await levee.hand.stop();
  await levee.daemon.stop("SIGKILL");
  say("the daemon is away");
  const endsMs = performance.now() + awayMs;
  await cluster.pods.remove([gone]);
  expect(leases()).toHaveLength(4);
  while (performance.now() < endsMs - 15_000) {
    expect(await cluster.isNodeReady()).toBe(true);
    await pause(1_000);
  }
  await cluster.pods.create(podsOn(["without-late"], "blue"));
  while (performance.now() < endsMs) {
    expect(await cluster.isNodeReady()).toBe(true);
    await pause(1_000);
  }
  await levee.start();
  say("the daemon is back");
  await cluster.pods.untilReady(["without-late"]);
  await untilTrueStatus(() => cluster.pods.get("without-late"), ["default/blue"]);
  expect(await cluster.isNodeReady()).toBe(true);
  await cluster.pods.remove([stays, "without-late"]);
  await untilNothingIsLeft(levee);
});
