import { expect, test } from "bun:test";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases } from "../networks.ts";
import { reboot } from "../flows/reboot.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

const five = names("boot", 5);

test("after a reboot the pods come back on their networks, and the addresses from before it are free", async () => {
  const scene = await theInstalled();
  const { cluster, levee } = scene;
  await cluster.pods.run(podsOn(five, "blue"));
  const before = leases();
  await reboot({ cluster });
  await levee.untilServing();
  await cluster.untilNodeReady();
  say("the node is back");
  await until(
    "the pods were started again",
    async () => {
      const pods = await cluster.pods.list();
      return pods.every((pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0) ? true : undefined;
    },
    { timeoutMs: 120_000, everyMs: 500 },
  );
  await cluster.pods.untilReady(five);
  for (const name of five) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"], { timeoutMs: 60_000 });
  await until("only the new addresses are held", () => (leases().length === five.length * 2 ? true : undefined));
  expect(leases()).not.toEqual(before);
  await cluster.pods.remove(five);
  await untilNothingIsLeft(levee);
});
