import { expect, test } from "bun:test";
import { say } from "../../e2e/say.ts";
import { names, podsOn } from "../../e2e/the-levee.ts";
import { removePods, sandboxOf, untilAttached, untilBack, untilNothingIsStale } from "../expectations.ts";
import { theNode } from "../the-node.ts";

const five = names("boot", 5);

test("after systemctl reboot every pod is back on its networks, and nothing of the earlier boot is left", async () => {
  const scene = await theNode();
  await scene.plane.pods.create(podsOn(five, "mac, lan"));
  const before = await untilAttached(scene, five, ["default/mac", "default/lan"]);
  say("five pods are attached; the machine reboots");
  await scene.machine.reboot();
  await untilBack(scene);
  const after = await untilAttached(scene, five, ["default/mac", "default/lan"]);
  for (const pod of five) expect(sandboxOf(after, pod).id).not.toBe(sandboxOf(before, pod).id);
  await untilNothingIsStale(scene);
  const { findings } = await scene.levee.gc();
  expect(findings).toEqual([]);
  await removePods(scene, five);
});
