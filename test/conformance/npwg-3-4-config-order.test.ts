// NPWG 3.4.1 and 3.4.2: a network's own config first, else a conflist or conf on disk with its name, else failure; a missing name is the network's.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, networksAnnotation, onlyCall, resultOf, startNode, stdinOf, story } from "./node.ts";

async function podOnLan(lab: Lab): Promise<CniCall> {
  await lab.pod("web", { [networksAnnotation]: "lan" });
  return { containerId: containerId("order"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

function file(lab: Lab, name: string, config: unknown): Promise<void> {
  return writeFile(lab.path("confdir", name), typeof config === "string" ? config : JSON.stringify(config));
}

test("the definition's own config wins over a file with the same name", async () => {
  await using lab = await startNode();
  await file(lab, "10-lan.conflist", { cniVersion: "1.0.0", name: "lan", plugins: [lab.conf("third")] });
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  resultOf(await lab.cni("ADD", await podOnLan(lab)));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1"]);
});

test("without one, the file that bears the name serves, whatever it is called", async () => {
  await using lab = await startNode();
  await file(lab, "10-other.conf", { cniVersion: "1.0.0", name: "other", ...lab.conf("third") });
  await file(lab, "20-whatever.conf", { cniVersion: "1.0.0", name: "lan", ...lab.conf("second") });
  await lab.network("lan", "");
  resultOf(await lab.cni("ADD", await podOnLan(lab)));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1"]);
});

test("a conflist with the name goes before a conf with it", async () => {
  await using lab = await startNode();
  await file(lab, "10-lan.conf", { cniVersion: "1.0.0", name: "lan", ...lab.conf("third") });
  await file(lab, "20-lan.conflist", { cniVersion: "1.0.0", name: "lan", plugins: [lab.conf("second")] });
  await lab.network("lan", "");
  resultOf(await lab.cni("ADD", await podOnLan(lab)));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1"]);
});

test("a broken neighbour does not hide the right file", async () => {
  await using lab = await startNode();
  await file(lab, "00-broken.conf", "{");
  await file(lab, "20-lan.conf", { cniVersion: "1.0.0", name: "lan", ...lab.conf("second") });
  await lab.network("lan", "");
  resultOf(await lab.cni("ADD", await podOnLan(lab)));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1"]);
});

test("neither is a failure that names the network and the folder, and nothing runs", async () => {
  await using lab = await startNode();
  await lab.network("lan", "");
  const error = errorOf(await lab.cni("ADD", await podOnLan(lab)));
  expect(error.code).toBe(101);
  expect(error.msg).toContain("default/lan");
  expect(error.msg).toContain(lab.path("confdir"));
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a network that does not exist is a failure in Multus' words, and nothing runs", async () => {
  await using lab = await startNode();
  const error = errorOf(await lab.cni("ADD", await podOnLan(lab)));
  expect(error).toMatchObject({
    code: 101,
    msg: expect.stringContaining("cannot find a network-attachment-definition (lan) in namespace (default)"),
  });
  expect(await lab.calls()).toEqual([]);
});

for (const name of [undefined, ""]) {
  test(`a config whose name is ${name === undefined ? "missing" : "empty"} gets the network's name`, async () => {
    await using lab = await startNode();
    await lab.network("lan", { cniVersion: "1.0.0", ...(name === undefined ? {} : { name }), ...lab.conf("second") });
    resultOf(await lab.cni("ADD", await podOnLan(lab)));
    expect(stdinOf(await onlyCall(lab, "ADD", "second"))["name"]).toBe("lan");
  });
}

for (const [what, config] of [
  ["no JSON", "{"],
  ["no object", "[1]"],
  ["no type and no plugins", '{"cniVersion":"1.0.0"}'],
  ["an empty plugin list", '{"cniVersion":"1.0.0","plugins":[]}'],
  ["null as plugin list", '{"cniVersion":"1.0.0","plugins":null}'],
  ["a plugin that is null", '{"cniVersion":"1.0.0","plugins":[null]}'],
  ["a plugin without type", '{"cniVersion":"1.0.0","plugins":[{}]}'],
  ["a type that is a path", '{"cniVersion":"1.0.0","type":"../../bin/sh"}'],
  ["a name that is a path", '{"cniVersion":"1.0.0","name":"../x","type":"second"}'],
] as const) {
  test(`a config that has ${what} is an error that names the network, and nothing runs`, async () => {
    await using lab = await startNode();
    await lab.network("lan", config);
    const error = errorOf(await lab.cni("ADD", await podOnLan(lab)));
    expect([6, 7]).toContain(error.code);
    expect(error.msg).toContain("default/lan");
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}
