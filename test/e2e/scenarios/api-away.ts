import { expect, test } from "bun:test";
import { statusOf, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { podInterfaces } from "../networks.ts";
import { ctr, sandboxes } from "../node/containerd.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { pause, until } from "../until.ts";

const awayMs = 60_000;
const three = names("away", 3);

test("with the API server away for 60 s known pods are attached again, and their status is delivered afterwards", async () => {
  const { cluster, levee } = await theInstalled();
  const before = await cluster.pods.run(podsOn(three, "blue"));
  const oldStatus = new Map(before.map((pod) => [pod.metadata.name, statusOf(pod)]));
  await cluster.apiServer.stop("SIGKILL");
  const beganMs = performance.now();
  say("the API server is away");
  const oldIds = new Set(sandboxes().map(({ id }) => id));
  // The kubelet makes a new sandbox for a pod whose sandbox dies, without asking the API server.
  for (const box of sandboxes().filter(({ pod }) => three.includes(pod))) ctr("task", "kill", "-s", "SIGKILL", box.id);
  await until(
    "the pods are attached again without the API server",
    () => {
      const again = sandboxes().filter(({ id, pod }) => three.includes(pod) && !oldIds.has(id));
      return again.length === three.length && again.every(({ pod }) => hasNet1(pod)) ? true : undefined;
    },
    { timeoutMs: 50_000, everyMs: 500 },
  );
  say("the pods are attached again");
  await pause(Math.max(0, awayMs - (performance.now() - beganMs)));
  await cluster.startApiServerAgain();
  say("the API server is back");
  for (const name of three) {
    const pod = await untilTrueStatus(() => cluster.pods.get(name), ["default/blue"], { timeoutMs: 90_000 });
    expect(statusOf(pod)).not.toEqual(oldStatus.get(name) ?? []);
  }
  await cluster.untilNodeReady();
  await cluster.pods.run(podsOn(["away-after"], "blue"));
  await cluster.pods.remove([...three, "away-after"]);
  await untilNothingIsLeft(levee);
});

function hasNet1(pod: string): boolean {
  try {
    return podInterfaces(pod).some(({ ifname, addresses }) => ifname === "net1" && addresses.length > 0);
  } catch {
    // Its namespace is just being made.
    return false;
  }
}
