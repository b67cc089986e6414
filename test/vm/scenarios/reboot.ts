import { expect, test } from "bun:test";
import { say } from "../../e2e/say.ts";
import { names, podsOn } from "../../e2e/the-levee.ts";
import { removePods, sandboxOf, untilAttached, untilBack, untilNothingIsStale } from "../expectations.ts";
import { theNode } from "../the-node.ts";

const eight = names("boot", 8);

test("after systemctl reboot every pod is back on its networks, and nothing of the earlier boot is left", async () => {
  const scene = await theNode();
  await scene.plane.pods.create(podsOn(eight, "mac, lan"));
  const before = await untilAttached(scene, eight, ["default/mac", "default/lan"]);
  say("eight pods are attached; the machine reboots");
  await scene.machine.reboot();
  await untilBack(scene);
  const after = await untilAttached(scene, eight, ["default/mac", "default/lan"]);
  for (const pod of eight) expect(sandboxOf(after, pod).id).not.toBe(sandboxOf(before, pod).id);
  await untilNothingIsStale(scene);
  const { findings } = await scene.levee.gc();
  expect(findings).toEqual([]);
  await removePods(scene, eight);
});
