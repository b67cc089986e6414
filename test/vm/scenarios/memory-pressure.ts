import { expect, test } from "bun:test";
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
  expect(await reason(scene)).not.toContain("memory or disk pressure");
  await scene.machine.shell.run(hog);
  try {
    await untilReason(scene, (why) => why.includes("under memory or disk pressure"));
    const { pressure } = await scene.levee.top();
    say(`pressure on memory: ${pressure.memory ?? 0} %`);
    expect(pressure.memory).toBeGreaterThan(0);
    await scene.plane.pods.create(podsOn(["pressed"], "mac"));
    await untilAttached(scene, ["pressed"], ["default/mac"]);
  } finally {
    await scene.machine.shell.run("systemctl stop hog");
  }
  await untilReason(scene, (why) => !why.includes("under memory or disk pressure"));
  say("the pressure is over");
  await removePods(scene, ["pressed"]);
});

async function reason({ levee }: VmScene): Promise<string> {
  return (await levee.top()).slots.why;
}

async function untilReason(scene: VmScene, isRight: (why: string) => boolean): Promise<void> {
  await slowly(
    "the limit of ADDs has the expected reason",
    async () => {
      const why = await reason(scene);
      if (isRight(why)) return true;
      throw new Error(`it is: ${why}`);
    },
    { everyMs: 1_000 },
  );
}
