// CNI 1.1, GC: what the runtime no longer lists is removed when it is dead, and every network is told what remains valid.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { reboot } from "./garbage.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
  story,
} from "./node.ts";

const bare = { containerId: "", netns: "", ifname: "", args: "" };

function gc(
  lab: Lab,
  valid: readonly string[] | undefined,
  more: Record<string, unknown> = {},
): ReturnType<Lab["cni"]> {
  const list =
    valid === undefined
      ? {}
      : { "cni.dev/valid-attachments": valid.map((containerID) => ({ containerID, ifname: "eth0" })) };
  return lab.cni("GC", { ...bare, conf: lab.shimConf({ ...list, ...more }) });
}

test("what is not on the list and has no namespace any more is detached, what is on it stays", async () => {
  await using lab = await startNode();
  const [dead, alive] = [containerId("dead"), containerId("alive")];
  const gone = lab.netns("gone");
  resultOf(await lab.cni("ADD", { containerId: dead, netns: gone }));
  resultOf(await lab.cni("ADD", { containerId: alive, netns: lab.netns("here") }));
  lab.deleteNetns(gone);
  expectSilence(await gc(lab, [alive]));
  const del = await onlyCall(lab, "DEL", "first");
  expect(del.containerId).toBe(dead);
  expect(del.env["CNI_NETNS"] ?? "").toBe("");
  expect((await attachments(lab)).map((attachment) => attachment.containerId)).toEqual([alive]);
});

test("after a reboot one GC detaches everything of the earlier boot, however much it is", async () => {
  await using lab = await startNode({ withHand: true });
  const ids = Array.from({ length: 12 }, (_, index) => containerId(`old${index}`));
  for (const [index, id] of ids.entries()) {
    const netns = lab.netns(`old${index}`);
    resultOf(await lab.cni("ADD", { containerId: id, netns }));
    lab.deleteNetns(netns);
  }
  await reboot(lab);
  expectSilence(await gc(lab, []));
  expect(await attachments(lab)).toEqual([]);
});

test("a living namespace is not touched although the runtime does not list it", async () => {
  await using lab = await startNode();
  const id = containerId("living");
  resultOf(await lab.cni("ADD", { containerId: id, netns: lab.netns("a") }));
  expectSilence(await gc(lab, []));
  expect(await story(lab)).toEqual(["ADD first eth0", "GC first none"]);
  expect(stdinOf(await onlyCall(lab, "GC", "first"))["cni.dev/valid-attachments"]).toEqual([
    { containerID: id, ifname: "eth0" },
  ]);
  expect(await attachments(lab)).toHaveLength(1);
});

test("an absent list is refused: it is not an empty one", async () => {
  await using lab = await startNode();
  const gone = lab.netns("gone");
  resultOf(await lab.cni("ADD", { containerId: containerId("kept"), netns: gone }));
  lab.deleteNetns(gone);
  expect(errorOf(await gc(lab, undefined))).toMatchObject({ code: 7 });
  expect(await story(lab)).toEqual(["ADD first eth0"]);
  expect(await attachments(lab)).toHaveLength(1);
});

test("an entry that cannot be read is an error, never an entry less", async () => {
  await using lab = await startNode();
  for (const list of [[{ containerID: "x" }], ["x"], "x", [{ containerID: 5, ifname: "eth0" }]]) {
    expect(
      errorOf(await lab.cni("GC", { ...bare, conf: lab.shimConf({ "cni.dev/valid-attachments": list }) })),
    ).toMatchObject({ code: 7 });
  }
  expect(await lab.calls()).toEqual([]);
});

test("the list under the older key counts as well", async () => {
  await using lab = await startNode();
  const outcome = await lab.cni("GC", {
    ...bare,
    conf: lab.shimConf({ "cni.dev/attachments": [{ containerID: "c1", ifname: "eth0" }] }),
  });
  expectSilence(outcome);
  const stdin = stdinOf(await onlyCall(lab, "GC", "first"));
  expect(stdin["cni.dev/valid-attachments"]).toEqual([{ containerID: "c1", ifname: "eth0" }]);
  expect(stdin["cni.dev/attachments"]).toEqual([{ containerID: "c1", ifname: "eth0" }]);
});

test("secondary networks are told of their own interfaces, not of the runtime's", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.1.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan,lan@data0" });
  const id = containerId("two");
  resultOf(await lab.cni("ADD", { containerId: id, netns: lab.netns("a"), args: lab.podArgs("web") }));
  expectSilence(await gc(lab, [id]));
  expect(stdinOf(await onlyCall(lab, "GC", "second"))["cni.dev/valid-attachments"]).toEqual([
    { containerID: id, ifname: "net1" },
    { containerID: id, ifname: "data0" },
  ]);
  expect(stdinOf(await onlyCall(lab, "GC", "first"))["cni.dev/valid-attachments"]).toEqual([
    { containerID: id, ifname: "eth0" },
  ]);
});

test("while a container that another program attached lives, only the primary network gets GC", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.1.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const id = containerId("two");
  resultOf(await lab.cni("ADD", { containerId: id, netns: lab.netns("a"), args: lab.podArgs("web") }));
  await lab.forgetCalls();
  expectSilence(await gc(lab, [id, "stranger"]));
  expect(await story(lab)).toEqual(["GC first none"]);
  expect(stdinOf(await onlyCall(lab, "GC", "first"))["cni.dev/valid-attachments"]).toEqual([
    { containerID: id, ifname: "eth0" },
    { containerID: "stranger", ifname: "eth0" },
  ]);
});

test("a network with disableGC is neither asked nor detached", async () => {
  await using lab = await startNode();
  await lab.network("keep", { cniVersion: "1.1.0", name: "keep", disableGC: true, plugins: [lab.conf("second")] });
  await lab.pod("web", { [networksAnnotation]: "keep" });
  const gone = lab.netns("gone");
  resultOf(await lab.cni("ADD", { containerId: containerId("off"), netns: gone, args: lab.podArgs("web") }));
  lab.deleteNetns(gone);
  await lab.forgetCalls();
  expectSilence(await gc(lab, []));
  expect(await story(lab)).toEqual(["GC first none"]);
});

test("a network older than 1.1.0 is not asked", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "1.0.0", name: "primary", ...lab.conf("first") }] }),
  });
  expectSilence(await gc(lab, []));
  expect(await lab.calls()).toEqual([]);
});

test("one network's failure does not keep the others from being told, and is reported", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.1.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  resultOf(await lab.cni("ADD", { containerId: containerId("f"), netns: lab.netns("a"), args: lab.podArgs("web") }));
  await lab.script("first.GC", `echo '{"cniVersion":"1.1.0","code":99,"msg":"store is locked"}'; exit 1`);
  await lab.forgetCalls();
  expect(errorOf(await gc(lab, [containerId("f")]))).toMatchObject({
    code: 99,
    msg: expect.stringContaining("store is locked"),
  });
  expect(await story(lab)).toEqual(["GC first none", "GC second none"]);
});

test("GC runs alone and holds up nothing: it waits for running calls, others overtake it, and it gives way to new ones", async () => {
  await using lab = await startNode();
  const wait = (name: string): string => `while [ ! -e "$control/${name}" ]; do sleep 0.02; done`;
  await lab.script("first.ADD", `case $CNI_CONTAINERID in one*) ${wait("add")};; esac`);
  await lab.script("first.GC", wait("gc"));
  const one = { containerId: containerId("one"), netns: lab.netns("one") };
  const two = { containerId: containerId("two"), netns: lab.netns("two") };
  const add = lab.cni("ADD", one);
  await lab.until("the ADD runs", async () => ((await story(lab)).length === 1 ? true : undefined));
  const collecting = gc(lab, []);
  await lab.untilConnected(2);
  // Before GC has had its turn.
  resultOf(await lab.cni("ADD", two));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD first eth0"]);
  await writeFile(lab.path("control/add"), "");
  resultOf(await add);
  await lab.until("GC runs", async () => ((await story(lab)).length === 3 ? true : undefined));
  // The plugin's GC would run until the test ends.
  resultOf(await lab.cni("ADD", { containerId: containerId("late"), netns: lab.netns("late") }));
  expect(errorOf(await collecting)).toMatchObject({ code: 11, msg: expect.stringContaining("gives way to pods") });
  const again = gc(lab, []);
  await lab.until("GC runs again", async () => ((await story(lab)).length === 5 ? true : undefined));
  expectSilence(await lab.cni("DEL", one));
  expect(errorOf(await again)).toMatchObject({ code: 11 });
  const adds = Array.from({ length: 2 }, () => "ADD first eth0");
  expect(await story(lab)).toEqual([...adds, "GC first none", ...adds.slice(1), "GC first none", "DEL first eth0"]);
  await writeFile(lab.path("control/gc"), "");
  expectSilence(await gc(lab, []));
});

test("a list that forgets the whole node does not empty it at once", async () => {
  await using lab = await startNode();
  const alive = { containerId: containerId("alive"), netns: lab.netns("alive") };
  resultOf(await lab.cni("ADD", alive));
  for (let index = 0; index < 7; index += 1) {
    const netns = lab.netns(`n${index}`);
    resultOf(await lab.cni("ADD", { containerId: containerId(`many${index}x`), netns }));
    lab.deleteNetns(netns);
  }
  expectSilence(await gc(lab, []));
  expect(await attachments(lab)).toHaveLength(3);
  // The breaker counts over calls: the rest waits for the next minute.
  expectSilence(await gc(lab, []));
  expect(await attachments(lab)).toHaveLength(3);
});

test("where no namespace can be seen at all, nothing is taken for dead", async () => {
  await using lab = await startNode();
  const netns = lab.netns("one");
  resultOf(await lab.cni("ADD", { containerId: containerId("one"), netns }));
  lab.deleteNetns(netns);
  expectSilence(await gc(lab, []));
  expect(await attachments(lab)).toHaveLength(1);
});

test("a hand that sees no namespace at all proves nothing and detaches nothing", async () => {
  await using lab = await startNode();
  const [one, two] = [lab.netns("one"), lab.netns("two")];
  resultOf(await lab.cni("ADD", { containerId: containerId("one"), netns: one }));
  resultOf(await lab.cni("ADD", { containerId: containerId("two"), netns: two }));
  lab.deleteNetns(one);
  lab.deleteNetns(two);
  expect(errorOf(await gc(lab, [containerId("one")]))).toMatchObject({ code: 11 });
  expect(await attachments(lab)).toHaveLength(2);
});

test("addresses of the real bridge are freed for dead containers only", async () => {
  await using bridge = realBridge("k");
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab) })] }),
  });
  const gone = lab.netns("gone");
  const alive = { containerId: containerId("alive"), netns: lab.netns("alive") };
  resultOf(await lab.cni("ADD", { containerId: containerId("gone"), netns: gone }));
  resultOf(await lab.cni("ADD", alive));
  lab.deleteNetns(gone);
  expectSilence(await gc(lab, [alive.containerId]));
  expect(await addresses(lab)).toEqual([`primary/${bridge.subnet}.3`]);
  expectSilence(await lab.cni("DEL", alive));
  expect(await leftovers(lab)).toEqual([]);
});

test("networks that no pod of the node uses are told as well, unless they are too old or have disableGC", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.1.0", name: "lan", ...lab.conf("second") });
  await lab.network("off", { cniVersion: "1.1.0", name: "off", disableGC: true, plugins: [lab.conf("third")] });
  await lab.network("old", { cniVersion: "1.0.0", name: "old", ...lab.conf("fourth") });
  await lab.network("broken", '{"cniVersion":"1.1.0"');
  await lab.until("the networks are seen", async () => {
    await lab.forgetCalls();
    expectSilence(await gc(lab, []));
    return (await story(lab)).length === 2 ? true : undefined;
  });
  expect(await story(lab)).toEqual(["GC first none", "GC second none"]);
  expect(stdinOf(await onlyCall(lab, "GC", "second"))["cni.dev/valid-attachments"]).toEqual([]);
});

test("a definition by which plugins keep the primary network's books is told what the runtime says", async () => {
  await using lab = await startNode();
  await lab.network("twin", { cniVersion: "1.1.0", name: "primary", ...lab.conf("second") });
  const containerID = containerId("one");
  resultOf(await lab.cni("ADD", { containerId: containerID, netns: lab.netns("a") }));
  const valid = ["eth0", "eth9"].map((ifname) => ({ containerID, ifname }));
  await lab.until("the network is seen", async () => {
    await lab.forgetCalls();
    expectSilence(await gc(lab, undefined, { "cni.dev/valid-attachments": valid }));
    return (await story(lab)).length === 2 ? true : undefined;
  });
  expect(stdinOf(await onlyCall(lab, "GC", "second"))["cni.dev/valid-attachments"]).toEqual(valid);
});

test("nor is the primary network told then, if pods may have asked for it once more: only the journal knows their interfaces", async () => {
  await using lab = await startNode();
  await lab.network("twin", { cniVersion: "1.1.0", name: "primary", ...lab.conf("second") });
  await lab.until("the network is seen", async () => {
    await lab.forgetCalls();
    expectSilence(await gc(lab, []));
    return (await story(lab)).length === 2 ? true : undefined;
  });
  await lab.forgetCalls();
  expectSilence(await gc(lab, ["stranger"]));
  expect(await story(lab)).toEqual([]);
});
