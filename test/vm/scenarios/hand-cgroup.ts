import { expect, test } from "bun:test";
import { isReady } from "../../e2e/pods.ts";
import { say } from "../../e2e/say.ts";
import { theNode, type VmScene } from "../the-node.ts";
import { slowly } from "../slowly.ts";

const handPid = "pgrep --oldest --full 'levee-shim --resident'";

test("the hand lives in a leaf of its container's cgroup, beside one for plugins with a limit of their own", async () => {
  const { machine } = await theNode();
  const pid = (await machine.shell.run(handPid)).trim();
  const cgroup = (await machine.shell.run(`cut -d: -f3 /proc/${pid}/cgroup`)).trim();
  expect(cgroup).toMatch(/\/cri-containerd-[0-9a-f]{64}\.scope\/levee-hand$/u);
  const container = `/sys/fs/cgroup${cgroup.slice(0, cgroup.lastIndexOf("/"))}`;
  const plugins = `${container}/levee-delegates`;
  const read = async (file: string): Promise<string> => (await machine.shell.run(`cat ${file}`)).trim();
  expect(await read(`${plugins}/memory.max`)).toBe("100663296");
  // With processes of its own it could not give its children the memory controller.
  expect(await read(`${container}/cgroup.procs`)).toBe("");
  expect(await read(`${container}/memory.max`)).toBe(String(128 * 1024 * 1024));
});

test("the hand's probes run beside it: a stopped hand becomes unready, and ready when it goes on", async () => {
  const scene = await theNode();
  const { levee, machine } = scene;
  const before = await levee.pod("hand");
  const pid = (await machine.shell.run(handPid)).trim();
  await machine.shell.run(`kill -STOP ${pid}`);
  try {
    await untilHand(scene, false);
    say("the stopped hand is unready");
  } finally {
    await machine.shell.run(`kill -CONT ${pid}`);
  }
  await untilHand(scene, true);
  const after = await levee.pod("hand");
  expect(after.metadata.name).toBe(before.metadata.name);
  expect(after.status?.containerStatuses?.[0]?.restartCount).toBe(
    before.status?.containerStatuses?.[0]?.restartCount ?? -1,
  );
});

async function untilHand({ levee }: VmScene, isUp: boolean): Promise<void> {
  await slowly(
    `the hand is ${isUp ? "ready" : "unready"}`,
    async () => {
      const hand = (await levee.pods()).find((pod) => pod.metadata.name.startsWith("levee-hand-"));
      return hand !== undefined && isReady(hand) === isUp ? true : undefined;
    },
    { everyMs: 1_000 },
  );
}
