import { expect, test } from "bun:test";
import { eventsOf, expectTraffic, expectTrueStatus, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { bridgePorts, leases, podInterfaces } from "../networks.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { names, podsOn } from "../the-levee.ts";
import { until } from "../until.ts";

const twenty = names("basic", 20);
const networks = ["default/blue", "default/green"];

test("20 pods with two networks each: attached, told, reachable, and nothing is left after them", async () => {
  const { cluster, levee } = await theInstalled();
  const pods = await cluster.pods.run(podsOn(twenty, "blue, green"));
  say("20 pods are ready");
  for (const pod of pods) await untilTrueStatus(() => cluster.pods.get(pod.metadata.name), networks);
  expect(bridgePorts("blue0")).toBe(20);
  expect(new Set(leases()).size).toBe(60);
  await expectTraffic(twenty, "net1");
  await expectTraffic(twenty, "net2");
  say("traffic flows on both networks");
  await cluster.pods.remove(twenty);
  await untilNothingIsLeft(levee);
  expect(levee.memoryPeakBytes()).toBeLessThan(96 * 1024 * 1024);
});

test("a pod's interfaces are told in events, with Multus' words", async () => {
  const { cluster } = await theInstalled();
  await cluster.pods.run(podsOn(["told"], "blue"));
  const [eth0, net1] = podInterfaces("told");
  const expected = [
    `Add eth0 [${eth0?.addresses[0]}/22] from primary`,
    `Add net1 [${net1?.addresses[0]}/24] from default/blue`,
  ];
  const messages = await until("the events are there", async () => {
    const added = (await eventsOf(cluster.api, "told")).filter(({ reason }) => reason === "AddedInterface");
    return added.length >= expected.length ? added.map(({ message }) => message).toSorted() : undefined;
  });
  expect(messages).toEqual(expected);
  await cluster.pods.remove(["told"]);
});

test("a pod that asks for nothing has the default network, and its status", async () => {
  const { cluster, levee } = await theInstalled();
  await cluster.pods.run([{ name: "plain" }]);
  const pod = await untilTrueStatus(() => cluster.pods.get("plain"), []);
  expectTrueStatus(pod, []);
  expect(pod.status?.podIP).toBe(podInterfaces("plain")[0]?.addresses[0] ?? "");
  await cluster.pods.remove(["plain"]);
  await untilNothingIsLeft(levee);
});
