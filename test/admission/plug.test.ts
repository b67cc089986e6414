import { expect, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import { pause } from "../crash/crash-node.ts";
import { attachments, networksAnnotation } from "../conformance/node.ts";
import { AdmissionNode, broken, waitsFor } from "./admission-node.ts";

/** Far below the shortest hold of 5 s. */
const noticeMsMax = 3_000;

/** One slot; `web` runs in a namespace, and a hand can plug. */
async function nodeWithRunningPod(namespace = "default"): Promise<AdmissionNode> {
  const node = await AdmissionNode.start({ attachCeiling: 1, detachCeiling: 1 });
  await node.lab.startHand();
  for (const name of ["lan", "wan"])
    await node.lab.network(
      name,
      { cniVersion: "1.0.0", name, ...node.lab.conf(name === "lan" ? "second" : "third") },
      namespace,
    );
  expect(await node.add("web", { namespace })).toMatchObject({ exitCode: 0 });
  await node.lab.forgetCalls();
  return node;
}

async function annotate({ lab }: AdmissionNode, networks: string, namespace = "default"): Promise<void> {
  await lab.pod("web", { [networksAnnotation]: networks }, namespace);
}

/** An ADD whose plugin has the only slot until the file `go` is there. */
async function holdSlot(node: AdmissionNode): ReturnType<AdmissionNode["call"]> {
  await node.lab.script("first.ADD", waitsFor("go"));
  const holder = await node.call("ADD", "holder");
  await node.untilRan("ADD", "holder");
  return holder;
}

async function go({ lab }: AdmissionNode): Promise<void> {
  await writeFile(lab.path("control/go"), "");
}

async function untilPlugged(node: AdmissionNode, network: string, timeoutMs?: number): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const web = (await attachments(node.lab)).find(({ containerId }) => containerId === "web");
    return web?.networks.some((one) => one.network.endsWith(`/${network}`)) === true ? true : undefined;
  };
  await node.lab.until(`web has ${network}`, look, timeoutMs);
}

async function notesOf(node: AdmissionNode, note: string): Promise<readonly string[]> {
  const { entries } = await node.lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name: "web" });
  return entries.flatMap(({ verb, what, detail = "" }) => (verb === "PLUG" && what === note ? [detail] : []));
}

test("a plug waits behind a running ADD, before the ADDs that come later, and is attached once its turn comes", async () => {
  await using node = await nodeWithRunningPod();
  const holder = await holdSlot(node);
  await annotate(node, "lan");
  await node.untilWaiting(1);
  const later = await node.call("ADD", "later");
  await node.untilWaiting(2);
  expect(await node.ran("ADD")).toEqual(["holder"]);
  await go(node);
  await untilPlugged(node, "lan");
  for (const { outcome } of [holder, later]) expect(await outcome).toMatchObject({ exitCode: 0 });
  expect(await node.ran("ADD")).toEqual(["holder", "web", "later"]);
});

test("a critical ADD goes before a plug that came earlier", async () => {
  await using node = await nodeWithRunningPod();
  const holder = await holdSlot(node);
  await annotate(node, "lan");
  await node.untilWaiting(1);
  const critical = await node.call("ADD", "dns", { namespace: "kube-system" });
  await node.untilWaiting(2);
  await go(node);
  await untilPlugged(node, "lan");
  for (const { outcome } of [holder, critical]) expect(await outcome).toMatchObject({ exitCode: 0 });
  expect(await node.ran("ADD")).toEqual(["holder", "dns", "web"]);
});

test("a plug of a namespace that storms waits behind that namespace's ADDs, and other namespaces have their turns", async () => {
  await using node = await nodeWithRunningPod("tenant");
  const holder = await holdSlot(node);
  const storm = [];
  for (const pod of ["a", "b", "c"]) {
    storm.push(await node.call("ADD", pod, { namespace: "tenant" }));
    await node.untilWaiting(storm.length);
  }
  await annotate(node, "lan", "tenant");
  await node.untilWaiting(4);
  const other = await node.call("ADD", "other", { namespace: "quiet" });
  await node.untilWaiting(5);
  await go(node);
  await untilPlugged(node, "lan");
  for (const { outcome } of [holder, other, ...storm]) expect(await outcome).toMatchObject({ exitCode: 0 });
  const order = await node.ran("ADD");
  expect(order.filter((container) => container !== "other")).toEqual(["holder", "a", "b", "c", "web"]);
  expect(order.indexOf("other")).toBeLessThan(order.indexOf("web"));
});

test("an unplug waits for a slot of DELs", async () => {
  await using node = await nodeWithRunningPod();
  await annotate(node, "lan");
  await untilPlugged(node, "lan");
  expect(await node.add("old")).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.DEL", waitsFor("go"));
  const holder = await node.call("DEL", "old");
  await node.untilRan("DEL", "old");
  await annotate(node, "[]");
  await node.untilWaiting(1);
  expect(await node.ran("DEL")).toEqual(["old"]);
  await go(node);
  expect(await holder.outcome).toMatchObject({ exitCode: 0 });
  await node.untilRan("DEL", "web");
});

test("a plug in line is dropped when its pod ends, and by the runtime's DEL", async () => {
  for (const end of ["pod", "DEL"]) {
    await using node = await nodeWithRunningPod();
    const holder = await holdSlot(node);
    await annotate(node, "lan");
    await node.untilWaiting(1);
    if (end === "pod") await rm(node.lab.path("directory/pods/default.web.json"));
    else expect(await (await node.call("DEL", "web")).outcome).toMatchObject({ exitCode: 0 });
    await node.untilWaiting(0);
    await go(node);
    expect(await holder.outcome).toMatchObject({ exitCode: 0 });
    expect(await node.add("next")).toMatchObject({ exitCode: 0 });
    expect(await node.ran("ADD")).toEqual(["holder", "next"]);
  }
});

test("a pod that asks for a network that does not exist is held as after a failed ADD, until its annotation is another one", async () => {
  await using node = await nodeWithRunningPod();
  await annotate(node, "nowhere");
  await node.lab.until("the plug fails", async () => (await notesOf(node, "failed"))[0]);
  // Without the hold of at least 5 s it would be tried again after one.
  await pause(2_500);
  expect(await notesOf(node, "asked")).toEqual(["attach default/nowhere as net1"]);
  await annotate(node, "wan");
  await untilPlugged(node, "wan", noticeMsMax);
});

test("a pod whose plugin fails may try once more at once, and is held then", async () => {
  await using node = await nodeWithRunningPod();
  await node.lab.script("second.ADD", broken);
  await annotate(node, "lan");
  await node.lab.until("the second try fails", async () => (await notesOf(node, "failed"))[1]);
  await pause(4_500);
  expect(await node.ran("ADD")).toEqual(["web", "web"]);
});

test("a plug waits while its network fails for every pod, and is attached when a probe finds it mended", async () => {
  await using node = await nodeWithRunningPod();
  await node.lab.script("second.ADD", broken);
  const annotations = { [networksAnnotation]: "lan" };
  for (const pod of ["a", "b", "c"]) expect(await node.add(pod, { annotations })).toMatchObject({ exitCode: 1 });
  await node.lab.forgetCalls();
  await annotate(node, "lan");
  await node.untilWaiting(1);
  expect(await node.lab.calls()).toEqual([]);
  // Other networks do not notice.
  expect(await node.add("other")).toMatchObject({ exitCode: 0 });
  await node.lab.unscript("second.ADD");
  await untilPlugged(node, "lan", 45_000);
});
