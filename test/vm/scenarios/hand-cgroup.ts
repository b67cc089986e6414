import { expect, test } from "bun:test";
import { applyNetworks, hostLocal, network } from "../../e2e/networks.ts";
import { isReady } from "../../e2e/pods.ts";
import { say } from "../../e2e/say.ts";
import { networksAnnotation, podsOn } from "../../e2e/the-levee.ts";
import { removePods, untilAttached } from "../expectations.ts";
import { uplink } from "../node-files.ts";
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

const plugin = "/opt/cni/bin/waiting-macvlan";
const goesOn = "/run/levee-test-goes-on";
/** A macvlan whose ADD waits, so that its process can be looked at. */
const script = `#!/bin/sh
while [ "$CNI_COMMAND" = ADD ] && [ ! -e ${goesOn} ]; do sleep 1; done
exec /opt/cni/bin/macvlan
`;

test("the plugin of a network that is plugged runs in the hand's cgroup for plugins", async () => {
  const scene = await theNode();
  const { machine, plane } = scene;
  const bytes = Buffer.from(script).toString("base64");
  await machine.shell.run(`echo ${bytes} | base64 --decode > ${plugin} && chmod 755 ${plugin} && rm -f ${goesOn}`);
  const conf = { cniVersion: "1.0.0", type: "waiting-macvlan", master: uplink, mode: "bridge" };
  await applyNetworks(plane.api, network("waiting", { ...conf, ipam: hostLocal("10.216.0.0/24") }));
  await plane.pods.create(podsOn(["plugged"], "mac"));
  await untilAttached(scene, ["plugged"], ["default/mac"]);
  const annotations = { [networksAnnotation]: "mac,waiting" };
  await plane.api.patch("/api/v1/namespaces/default/pods/plugged", { metadata: { annotations } });
  // The brackets keep pgrep from finding the shell that runs it.
  const cgroup = await slowly("the plugin runs", async () => {
    const pid = (await machine.shell.run("pgrep --oldest --full '[w]aiting-macvlan' || true")).trim();
    return pid === "" ? undefined : (await machine.shell.run(`cut -d: -f3 /proc/${pid}/cgroup`)).trim();
  });
  const hand = (await machine.shell.run(`cut -d: -f3 /proc/$(${handPid})/cgroup`)).trim();
  await machine.shell.run(`touch ${goesOn}`);
  expect(cgroup).toStartWith(hand.replace(/\/levee-hand$/u, "/levee-delegates"));
  await untilAttached(scene, ["plugged"], ["default/mac", "default/waiting"]);
  await removePods(scene, ["plugged"]);
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
