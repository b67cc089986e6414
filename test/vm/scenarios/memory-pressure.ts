import { test } from "bun:test";
import type { TopAnswer } from "../../../src/wire/top-view.ts";
import { say } from "../../e2e/say.ts";
import { podsOn } from "../../e2e/the-levee.ts";
import { removePods, untilAttached } from "../expectations.ts";
import { theNode, type VmScene } from "../the-node.ts";
import { slowly } from "../slowly.ts";

/** Two processes that want more than their limit all the time: the kernel makes them wait for memory. */
const hog =
  "systemd-run --unit=hog --property=MemoryHigh=24M --property=MemorySwapMax=0 sh -c 'busybox dd if=/dev/zero of=/dev/null bs=96M & busybox dd if=/dev/zero of=/dev/null bs=96M'";

test("admission sees the kernel's memory pressure, attaches all the same, and sees its end", async () => {
  const scene = await theNode();
  await untilTop(scene, "the node has no pressure", (top) => !isPressed(top));
  await scene.machine.shell.run(hog);
  try {
    // A fifth of the time is where admission begins to hold back.
    const isFelt = (top: TopAnswer): boolean => isPressed(top) && (top.pressure.memory ?? 0) >= 20;
    const { pressure, slots } = await untilTop(scene, "admission feels the pressure on memory", isFelt);
    say(`pressure on memory: ${pressure.memory ?? 0} %; ${slots.why}`);
    await scene.plane.pods.create(podsOn(["pressed"], "mac"));
    await untilAttached(scene, ["pressed"], ["default/mac"]);
  } finally {
    await scene.machine.shell.run("systemctl stop hog");
  }
  await untilTop(scene, "the pressure is over", (top) => !isPressed(top));
  say("the pressure is over");
  await removePods(scene, ["pressed"]);
});

function isPressed({ slots }: TopAnswer): boolean {
  return slots.why.includes("under memory or disk pressure");
}

function untilTop({ levee }: VmScene, what: string, isRight: (top: TopAnswer) => boolean): Promise<TopAnswer> {
  return slowly(
    what,
    async () => {
      const top = await levee.top();
      if (isRight(top)) return top;
      throw new Error(`it is ${JSON.stringify(top.pressure)}: ${top.slots.why}`);
    },
    { everyMs: 1_000 },
  );
}
