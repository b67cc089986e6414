// CNI 1.1, CHECK: every plugin of every attachment is asked with the final result; the first complaint goes to the runtime.
import { expect, test } from "bun:test";
import { ip } from "../lab/lab.ts";
import { ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
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

test("CHECK asks all networks of the pod, in order, and changes nothing", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", name: "lan", plugins: [lab.conf("second"), lab.conf("third")] });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const call = { containerId: containerId("all"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  await lab.forgetCalls();
  expectSilence(await lab.cni("CHECK", call));
  expect(await story(lab)).toEqual(["CHECK first eth0", "CHECK second net1", "CHECK third net1"]);
  const second = await onlyCall(lab, "CHECK", "second");
  expect(second.env["CNI_NETNS"]).toBe(call.netns);
  expect(stdinOf(second)["prevResult"]).toMatchObject({ interfaces: [{ name: "net1" }] });
  expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
});

test("a plugin's complaint is passed on with its own code", async () => {
  await using lab = await startNode();
  const call = { containerId: containerId("sick"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.script("first.CHECK", `echo '{"cniVersion":"1.1.0","code":77,"msg":"link is down"}'; exit 1`);
  expect(errorOf(await lab.cni("CHECK", call))).toMatchObject({ code: 77, msg: "primary (eth0): link is down" });
  await lab.unscript("first.CHECK");
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("a container that was never added is code 3 and runs nothing", async () => {
  await using lab = await startNode();
  expect(errorOf(await lab.cni("CHECK", { containerId: containerId("who"), netns: lab.netns("a") }))).toMatchObject({
    code: 3,
  });
  expect(await lab.calls()).toEqual([]);
});

test("a network that disables CHECK, or whose version has none, is not asked", async () => {
  await using lab = await startNode();
  await lab.network("quiet", { cniVersion: "1.0.0", name: "quiet", disableCheck: true, plugins: [lab.conf("second")] });
  await lab.network("old", { cniVersion: "0.3.1", name: "old", ...lab.conf("third") });
  await lab.pod("web", { [networksAnnotation]: "quiet,old" });
  const call = { containerId: containerId("quiet"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  await lab.forgetCalls();
  expectSilence(await lab.cni("CHECK", call));
  expect(await story(lab)).toEqual(["CHECK first eth0"]);
});

test("CHECK right after ADD passes with the real bridge, and fails once the address is gone", async () => {
  await using bridge = realBridge("c");
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({ delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab), isDefaultRoute: true })] }),
  });
  const call = { containerId: containerId("real"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", call));
  ip(["-n", call.netns.slice(call.netns.lastIndexOf("/") + 1), "addr", "flush", "dev", "eth0"]);
  errorOf(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("CHECK passes after default-route moved the default route, as the plugins are told what is there now", async () => {
  await using bridge = realBridge("d");
  await using second = realBridge("e");
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({ delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab), isDefaultRoute: true })] }),
  });
  await lab.network("lan", second.conf("lan", { dataDir: ipamFolder(lab), isDefaultRoute: true }));
  await lab.pod("web", {
    [networksAnnotation]: JSON.stringify([{ "name": "lan", "default-route": [`${second.subnet}.1`] }]),
  });
  const call = { containerId: containerId("routed"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});
