import { expect, test } from "bun:test";
import { say } from "../../e2e/say.ts";
import { names, networksAnnotation, podsOn } from "../../e2e/the-levee.ts";
import { podObject } from "../../e2e/pods.ts";
import { nodeName } from "../../e2e/machine.ts";
import { removePods, sandboxOf, untilAttached, untilBack, untilNothingIsStale } from "../expectations.ts";
import { guestFacts } from "../guest.ts";
import { theNode, type VmScene } from "../the-node.ts";
import { slowly } from "../slowly.ts";

const three = names("away", 3);
const staticFile = "/etc/kubernetes/manifests/fixed.json";
const fixed = `fixed-${nodeName}`;

test("the machine boots without the API server: no pod starts without its networks, and all are back once the server is", async () => {
  const scene = await theNode();
  await writeStaticPod(scene);
  try {
    await scene.plane.pods.create(podsOn(three, "mac"));
    await untilAttached(scene, [...three, fixed], ["default/mac"]);
    await bootWithoutServer(scene);
    say("the API server is back");
    await untilBack(scene);
    const facts = await untilAttached(scene, [...three, fixed], ["default/mac"]);
    expect(sandboxOf(facts, fixed).links.map(({ ifname }) => ifname)).toEqual(["eth0", "net1"]);
    await untilNothingIsStale(scene);
  } finally {
    await scene.machine.shell.run(`rm ${staticFile}`);
  }
  await removePods(scene, [...three, fixed]);
});

async function bootWithoutServer({ plane, machine }: VmScene): Promise<void> {
  await plane.stopApiServer();
  say("the API server is away; the machine reboots");
  try {
    await machine.reboot();
    // The kubelet starts static pods without the server, and there is no daemon that could attach one.
    const refused =
      "journalctl --boot --unit kubelet --no-pager | grep --max-count=1 'FailedCreatePodSandBox\\|failed to setup network\\|CreatePodSandbox'";
    await slowly("the kubelet has tried the static pod", async () => (await machine.shell.run(refused)) || undefined);
    const { sandboxes } = await guestFacts(machine);
    expect(sandboxes.filter(({ namespace }) => namespace === "default")).toEqual([]);
  } finally {
    await plane.startApiServerAgain();
  }
}

async function writeStaticPod({ machine }: VmScene): Promise<void> {
  const pod = podObject({ name: "fixed", annotations: { [networksAnnotation]: "mac" } });
  const spec = pod["spec"] as Record<string, unknown>; // made above
  const { nodeName: _bound, ...own } = spec;
  // The kubelet must not read half of it.
  const draft = "/etc/kubernetes/fixed.json";
  const text = JSON.stringify({ ...pod, spec: own });
  await machine.shell.run(
    `mkdir -p /etc/kubernetes/manifests && printf '%s' '${text}' > ${draft} && mv ${draft} ${staticFile}`,
  );
}
