import { expect, test } from "bun:test";
import type { NodeAnswer } from "../../../src/wire/node-view.ts";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases } from "../networks.ts";
import { sandboxes } from "../node/containerd.ts";
import { BuildOfLevee } from "../installed/build-of-levee.ts";
import { say } from "../say.ts";
import { theInstalled, type InstalledScene } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { pause } from "../until.ts";

const before = names("rolling-a", 6);
const meanwhile = names("rolling-b", 6);
const all = [...before, ...meanwhile];

test("a newer version is rolled out and back while pods start: the running ones notice nothing, and none is lost", async () => {
  const { cluster, levee } = await theInstalled();
  const [current, next] = [BuildOfLevee.current(), BuildOfLevee.next()];
  next.load("levee");
  await cluster.pods.run(podsOn(before, "blue"));
  const running = sandboxesOf(before);

  levee.apply(next);
  for (const pod of podsOn(meanwhile, "blue")) {
    await cluster.pods.create([pod]);
    await pause(700);
  }
  await levee.untilRolledOut();
  expect(await versionOf(levee)).toEqual([`levee ${next.version}`]);
  await expectAll({ cluster, levee });
  say(`version ${next.version} serves`);

  cluster.kubectl(["-n", "levee-system", "rollout", "undo", "daemonset/levee"]);
  cluster.kubectl(["-n", "levee-system", "rollout", "undo", "daemonset/levee-hand"]);
  await levee.untilRolledOut();
  expect(await versionOf(levee)).toEqual([`levee ${current.version}`]);
  await expectAll({ cluster, levee });
  expect(sandboxesOf(before)).toEqual(running);
  await cluster.pods.remove(all);
  await untilNothingIsLeft(levee);
  // What was undone is not what the next `kubectl apply` compares with.
  await levee.install();
});

test("the daemon's pod is deleted by force, and nobody waits for its end: the next one takes over, and no pod fails", async () => {
  const { cluster, levee } = await theInstalled();
  const old = { pid: levee.daemon.pid, name: (await levee.daemon.pod()).metadata.name };
  await cluster.pods.create(podsOn(before, "blue"));
  await cluster.pods.untilReady(before);
  cluster.kubectl(["-n", "levee-system", "delete", "pod", old.name, "--force", "--grace-period=0", "--wait=false"]);
  await cluster.pods.create(podsOn(meanwhile, "blue"));
  await levee.daemon.untilAnother(old.pid);
  await levee.untilRolledOut();
  expect(levee.daemon.pid).not.toBe(old.pid);
  await expectAll({ cluster, levee });
  await cluster.pods.remove(all);
  await untilNothingIsLeft(levee);
});

async function expectAll({ cluster }: InstalledScene): Promise<void> {
  const pods = await cluster.pods.untilReady(all);
  expect(pods.map((pod) => pod.status?.containerStatuses?.[0]?.restartCount)).toEqual(all.map(() => 0));
  for (const name of all) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"]);
  expect(leases()).toHaveLength(all.length * 2);
  await expectTraffic(all, "net1");
}

async function versionOf(levee: InstalledScene["levee"]): Promise<readonly string[]> {
  return [(await levee.ask<NodeAnswer>({ ask: "node" })).software];
}

function sandboxesOf(pods: readonly string[]): readonly string[] {
  return sandboxes()
    .filter(({ pod }) => pods.includes(pod))
    .map(({ id }) => id)
    .toSorted();
}
