// CNI 1.1, DEL: a namespace that is gone, or not named, is no reason to fail; plugins are told that there is none.
import { spawnSync } from "node:child_process";
import { rename, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { ip } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { containerId, expectSilence, onlyCall, resultOf, startNode } from "./node.ts";

test("a DEL whose namespace is gone gives plugins an empty CNI_NETNS", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("gone"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  lab.deleteNetns(call.netns);
  expectSilence(await lab.cni("DEL", call));
  expect((await onlyCall(lab, "DEL", "first")).env["CNI_NETNS"] ?? "").toBe("");
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL without CNI_NETNS runs the plugins without one", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("unnamed"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", { containerId: call.containerId, netns: "" }));
  expect((await onlyCall(lab, "DEL", "first")).env["CNI_NETNS"] ?? "").toBe("");
  expect(await leftovers(lab)).toEqual([]);
});

test("a path that leads to another namespace by now is not handed to the plugins", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("reused"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  // Made while the first is alive, so that it cannot have its number.
  const other = lab.netns("b");
  lab.deleteNetns(call.netns);
  await writeFile(call.netns, "");
  expect(spawnSync("mount", ["--bind", other, call.netns]).status).toBe(0);
  expectSilence(await lab.cni("DEL", call));
  expect((await onlyCall(lab, "DEL", "first")).env["CNI_NETNS"] ?? "").toBe("");
  spawnSync("ip", ["netns", "delete", call.netns.slice(call.netns.lastIndexOf("/") + 1)]);
});

test("the real bridge plugin frees its address when the namespace is gone", async () => {
  await using bridge = realBridge("g");
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab) })] }),
  });
  const call = { containerId: containerId("real"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expect(await addresses(lab)).toHaveLength(1);
  lab.deleteNetns(call.netns);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
  // The kernel takes the namespace's links away some time after its name.
  const ports = (): string => ip(["-br", "link", "show", "master", bridge.device]);
  await lab.until("the bridge has no port", () => Promise.resolve(ports() === "" || undefined));
});

test("a DEL without CNI_PATH still finds the plugin where ADD found it", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("nopath"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", { ...call, path: "" }));
  await onlyCall(lab, "DEL", "first");
  expect(await leftovers(lab)).toEqual([]);
});

test("a DEL uses the path it comes with when the plugins were moved since ADD", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [{ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }],
        binDir: "/nowhere",
      }),
  });
  const call = { containerId: containerId("moved"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await rename(lab.path("bin"), lab.path("bin2"));
  expectSilence(await lab.cni("DEL", { ...call, path: lab.path("bin2") }));
  await onlyCall(lab, "DEL", "first");
  expect(await leftovers(lab)).toEqual([]);
});
