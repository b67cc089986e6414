// CNI 1.1, ADD: an interface that is there already is an error, and the living one stays untouched.
import { stat } from "node:fs/promises";
import { expect, test } from "bun:test";
import { ip, type Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  resultOf,
  startNode,
  story,
} from "./node.ts";

test("a second ADD for the same container and interface fails and runs nothing", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("twice"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  const error = errorOf(await lab.cni("ADD", call));
  expect(error.code).toBe(103);
  expect(error.msg).toContain("eth0");
  expect(await story(lab)).toEqual(["ADD first eth0"]);
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("another container in the same namespace cannot take the interface, and its failure does not remove it", async () => {
  await using bridge = realBridge("x");
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab) })] }),
  });
  const netns = lab.netns("a");
  const name = netns.slice(netns.lastIndexOf("/") + 1);
  resultOf(await lab.cni("ADD", { containerId: containerId("one"), netns }));
  errorOf(await lab.cni("ADD", { containerId: containerId("two"), netns }));
  expect(ip(["-n", name, "-br", "addr", "show", "eth0"])).toContain("10.");
  expect(await addresses(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", { containerId: containerId("two"), netns }));
  expect(ip(["-n", name, "-br", "addr", "show", "eth0"])).toContain("10.");
  expectSilence(await lab.cni("DEL", { containerId: containerId("one"), netns }));
  expect(await leftovers(lab)).toEqual([]);
});

test("two networks of one pod that want the same name are refused before the first plugin runs", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.pod("clash", { [networksAnnotation]: "lan@net7,lan@net7" });
  const outcome = await lab.cni("ADD", {
    containerId: containerId("clash"),
    netns: lab.netns("a"),
    args: lab.podArgs("clash"),
  });
  expect(errorOf(outcome)).toMatchObject({ code: 103 });
  await lab.pod("clash", { [networksAnnotation]: "lan@eth0" });
  const netns = lab.netns("b");
  await lab.until("the pod's file was read", async () => {
    const again = await lab.cni("ADD", { containerId: containerId("clash"), netns, args: lab.podArgs("clash") });
    return errorOf(again).msg.includes("eth0") || undefined;
  });
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("an ADD into another namespace under the same container ID undoes the old attachment first", async () => {
  await using lab = await startNode();
  const id = containerId("moved");
  const old = lab.netns("old");
  resultOf(await lab.cni("ADD", { containerId: id, netns: old }));
  lab.deleteNetns(old);
  resultOf(await lab.cni("ADD", { containerId: id, netns: lab.netns("new") }));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0", "ADD first eth0"]);
  const [, del] = await lab.calls();
  expect(del?.env["CNI_NETNS"] ?? "").toBe("");
  expect(await attachments(lab)).toHaveLength(1);
});

test("a new namespace that has the number of a dead one is not taken for it", async () => {
  await using lab = await startNode();
  const { id, again } = await lab.until("the kernel uses a number again", () => attachedWithNumberUsedAgain(lab));
  // Neither its own old attachment nor another container's is in this namespace.
  resultOf(await lab.cni("ADD", { containerId: id, netns: again }));
  const [, del] = (await lab.calls()).filter(({ containerId: of }) => of === id);
  expect(del?.command).toBe("DEL");
  expect(del?.env["CNI_NETNS"] ?? "").toBe("");
  expectSilence(await lab.cni("DEL", { containerId: id, netns: again }));
  expect(await leftovers(lab)).toEqual([]);
});

let numbers = 0;

/**
 * A container that was attached in a namespace that is gone, and a new namespace with its number. Undefined when a test
 * beside this one has taken the number.
 */
async function attachedWithNumberUsedAgain(lab: Lab): Promise<{ id: string; again: string } | undefined> {
  numbers += 1;
  const id = containerId(`number${numbers}`);
  const old = lab.netns(`old${numbers}`);
  const { ino } = await stat(old);
  resultOf(await lab.cni("ADD", { containerId: id, netns: old }));
  lab.deleteNetns(old);
  for (let tried = 0; tried < 20; tried += 1) {
    const again = lab.netns(`n${numbers}x${tried}`);
    if ((await stat(again)).ino === ino) return { id, again };
  }
  expectSilence(await lab.cni("DEL", { containerId: id, netns: old }));
  return undefined;
}

test("a namespace that cannot be opened, and the host's own, are refused before anything runs", async () => {
  await using lab = await startNode();
  for (const netns of ["/var/run/netns/levee-no-such", "/proc/1/ns/net"]) {
    expect(errorOf(await lab.cni("ADD", { containerId: containerId("void"), netns }))).toMatchObject({ code: 4 });
  }
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});
