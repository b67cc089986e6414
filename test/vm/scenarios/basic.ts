import { expect, test } from "bun:test";
import { say } from "../../e2e/say.ts";
import { names, podsOn } from "../../e2e/the-levee.ts";
import { removePods, sandboxOf, untilAttached } from "../expectations.ts";
import { siteNamespace } from "../node-files.ts";
import { slowly } from "../slowly.ts";
import { theNode } from "../the-node.ts";

const six = names("vm", 6);

test("pods get a macvlan and a bridge beside their primary network, talk to the site, and leave nothing", async () => {
  const scene = await theNode();
  await scene.plane.pods.create(podsOn(six, "mac, lan"));
  const facts = await untilAttached(scene, six, ["default/mac", "default/lan"]);
  say("six pods have three networks each");
  const first = sandboxOf(facts, six[0] ?? "");
  expect(first.links.map(({ ifname, kind }) => ({ ifname, kind }))).toEqual([
    { ifname: "eth0", kind: "veth" },
    { ifname: "net1", kind: "macvlan" },
    { ifname: "net2", kind: "veth" },
  ]);
  // Over the macvlan, the card and the cable.
  const address = first.links[1]?.addresses[0] ?? "";
  expect(await scene.machine.shell.run(`ip netns exec ${siteNamespace} ping -c 1 -W 20 ${address}`)).toContain(
    "1 received",
  );
  await removePods(scene, six);
});

test("the node is well by its own word, and the daemon holds no capability", async () => {
  const { machine, levee } = await theNode();
  // It looks at the host once a minute; the bridge of lan was made by the first pod.
  const verdict = await slowly("all checks of the node pass", async () => {
    const { status, stdout } = await machine.shell.try("levee check node --socket-dir /run/levee");
    const lines = stdout.trim().split("\n");
    if (status === 0) return lines.at(-1);
    throw new Error(lines.filter((line) => line.includes("×")).join("; "));
  });
  say(verdict);
  const pod = await levee.pod("daemon");
  expect(pod.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0]);
  const status = await machine.shell.run("cat /proc/$(pgrep -of 'levee daemon')/status");
  expect(/^CapEff:\s*(\S+)$/mu.exec(status)?.[1]).toBe("0000000000000000");
});
