import { expect, test } from "bun:test";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { leases } from "../networks.ts";
import { sandboxes } from "../node/containerd.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { say } from "../say.ts";
import { theInstalled, type InstalledScene } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

const eight = names("restart", 8);

test("containerd and kubelet are restarted with pods running: no pod notices", async () => {
  const scene = await theInstalled();
  const { cluster, levee } = scene;
  await cluster.pods.run(podsOn(eight, "blue"));
  const before = sandboxesOf(eight);
  await cluster.restartContainerd();
  await cluster.restartKubelet();
  await cluster.untilNodeReady();
  await expectAttached(scene, eight, "default/blue");
  expect(sandboxesOf(eight)).toEqual(before);
  await cluster.pods.remove(eight);
  await untilNothingIsLeft(levee);
});

test("containerd is killed in the middle of ADDs: the pods start all the same and nothing is left over", async () => {
  const scene = await theInstalled();
  const { cluster, levee } = scene;
  forgetRecorded();
  await cluster.pods.create(podsOn(eight, "slow"));
  await untilAdding();
  await cluster.restartContainerd("SIGKILL");
  say("containerd was killed in the middle of ADDs");
  await cluster.pods.untilReady(eight);
  await expectAttached(scene, eight, "default/slow");
  await cluster.pods.remove(eight);
  await untilNothingIsLeft(levee);
});

test("the kubelet is killed in the middle of ADDs: the pods start all the same and nothing is left over", async () => {
  const scene = await theInstalled();
  const { cluster, levee } = scene;
  forgetRecorded();
  await cluster.pods.create(podsOn(eight, "slow"));
  await untilAdding();
  await cluster.restartKubelet("SIGKILL");
  say("the kubelet was killed in the middle of ADDs");
  await cluster.pods.untilReady(eight);
  await expectAttached(scene, eight, "default/slow");
  await cluster.pods.remove(eight);
  await untilNothingIsLeft(levee);
});

async function untilAdding(): Promise<void> {
  await until("an ADD is in its slow plugin", () => recorded().find(({ command }) => command === "ADD"), {
    everyMs: 20,
  });
}

async function expectAttached({ cluster }: InstalledScene, pods: readonly string[], network: string): Promise<void> {
  for (const name of pods) await untilTrueStatus(() => cluster.pods.get(name), [network], { timeoutMs: 60_000 });
  await until("each pod holds two addresses", () => (leases().length === pods.length * 2 ? true : undefined));
}

function sandboxesOf(pods: readonly string[]): readonly string[] {
  return sandboxes()
    .filter(({ pod }) => pods.includes(pod))
    .map(({ id }) => id)
    .toSorted();
}
