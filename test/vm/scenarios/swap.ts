import { expect, test } from "bun:test";
import { say } from "../../e2e/say.ts";
import { podsOn } from "../../e2e/the-levee.ts";
import { removePods, untilAttached } from "../expectations.ts";
import { theNode } from "../the-node.ts";

const swapFile = "/var/swap";

test("swap is turned on, with pods running, and off again: pods come and go, and no Levee pod restarts", async () => {
  const scene = await theNode();
  const { shell } = scene.machine;
  const before = await restarts();
  await shell.run(
    `fallocate --length 256M ${swapFile} && chmod 600 ${swapFile} && mkswap ${swapFile} && swapon ${swapFile}`,
  );
  try {
    await scene.plane.pods.create(podsOn(["swap-on"], "mac"));
    await untilAttached(scene, ["swap-on"], ["default/mac"]);
    say(`swap is on: ${(await shell.run("swapon --show=SIZE --noheadings")).trim()}`);
    // A daemon that is swapped out answers late; Kubernetes gives containers none by default.
    const cgroup = (await shell.run("cut -d: -f3 /proc/$(pgrep --oldest --full 'levee daemon')/cgroup")).trim();
    expect((await shell.run(`cat /sys/fs/cgroup${cgroup}/memory.swap.max`)).trim()).toBe("0");
  } finally {
    await shell.run(`swapoff ${swapFile}; rm -f ${swapFile}`);
  }
  await scene.plane.pods.create(podsOn(["swap-off"], "mac"));
  await untilAttached(scene, ["swap-on", "swap-off"], ["default/mac"]);
  await removePods(scene, ["swap-on", "swap-off"]);
  expect(await restarts()).toEqual(before);

  async function restarts(): Promise<readonly (number | undefined)[]> {
    const pods = [await scene.levee.pod("daemon"), await scene.levee.pod("hand")];
    return pods.map((pod) => pod.status?.containerStatuses?.[0]?.restartCount);
  }
});
