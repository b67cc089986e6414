import { expect, test } from "bun:test";
import { say } from "../../e2e/say.ts";
import { names, podsOn } from "../../e2e/the-levee.ts";
import { removePods, sandboxOf, untilAttached, untilNothingIsStale } from "../expectations.ts";
import { guestFacts } from "../guest.ts";
import { theNode } from "../the-node.ts";
import { slowly } from "../slowly.ts";

const four = names("restart", 4);
const late = names("restart-late", 4);

test("systemd restarts containerd and the kubelet with pods running: no pod notices, and new ones start", async () => {
  const scene = await theNode();
  await scene.plane.pods.create(podsOn(four, "mac"));
  const before = await untilAttached(scene, four, ["default/mac"]);
  await scene.machine.shell.run("systemctl restart containerd && systemctl restart kubelet");
  say("containerd and the kubelet are restarted");
  await scene.plane.pods.create(podsOn(late, "mac"));
  const after = await untilAttached(scene, [...four, ...late], ["default/mac"]);
  for (const pod of four) expect(sandboxOf(after, pod).id).toBe(sandboxOf(before, pod).id);
  await removePods(scene, [...four, ...late]);
});

test("containerd is killed in the middle of ADDs and systemd starts it again: the pods start, and nothing is left over", async () => {
  const scene = await theNode();
  await scene.plane.pods.create(podsOn(four, "mac, lan"));
  await slowly(
    "some pods have an address",
    async () => ((await guestFacts(scene.machine)).leases.length > 0 ? true : undefined),
    { everyMs: 100 },
  );
  await scene.machine.shell.run("systemctl kill --signal=KILL --kill-whom=main containerd");
  say("containerd was killed");
  await untilAttached(scene, four, ["default/mac", "default/lan"]);
  expect((await scene.machine.shell.run("systemctl show --property=NRestarts --value containerd")).trim()).not.toBe(
    "0",
  );
  await untilNothingIsStale(scene);
  await removePods(scene, four);
});
