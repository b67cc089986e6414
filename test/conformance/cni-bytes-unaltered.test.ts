// CNI 1.1, section 3: keys a runtime does not know go to the plugin as they stand, and DEL gets the very configuration of ADD.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import {
  containerId,
  defaultNetworkAnnotation,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
} from "./node.ts";

/** Things that a parser and printer would change: spaces, a large integer, a float, a double key, escapes, an exponent. */
const odd = `"vendor.example/big" : 9007199254740993 , "mtu":1500.0,"dup":1,"dup": 2, "esc":"\\u00e9\\/\\u2028<>&", "exp":1E400,
   "neg":-0, "nested":{"b":1,"a":[ 1,2 ],"b":3}, "empty":{ } , "nul":null`;

function pluginText(lab: Lab, type: string): string {
  return `{ "type":"${type}", "controlDir":"${lab.path("control")}", ${odd} }`;
}

function listText(lab: Lab, name: string): string {
  return `{"cniVersion": "1.0.0",\n "name": "${name}", "x-list": 12345678901234567890, "plugins": [ ${pluginText(lab, "first")} , ${pluginText(lab, "second")}]}`;
}

/** The given bytes, with our members at the end and nothing else changed. */
function withMembers(text: string, members: string): string {
  return text.replace(/ \}$/, `,${members} }`);
}

const identity = `"name":"primary","cniVersion":"1.0.0"`;

async function addAndDelete(lab: Lab, call: CniCall): Promise<void> {
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
}

/** stdin of DEL is that of ADD, apart from prevResult. */
async function expectSameBytes(lab: Lab, plugin: string): Promise<void> {
  const cut = (stdin: string): string => stdin.replace(/,"prevResult":\{.*\} \}$/s, " }");
  const [add, del] = [await onlyCall(lab, "ADD", plugin), await onlyCall(lab, "DEL", plugin)];
  expect(del.stdin).toContain('"prevResult":');
  expect(cut(del.stdin)).toBe(cut(add.stdin));
  expect(cut(add.stdin)).toBe(withMembers(pluginText(lab, plugin), identity));
}

test("a conflist on disk reaches its plugins byte for byte, at ADD and at DEL", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      await writeFile(lab.path("confdir/10-primary.conflist"), listText(lab, "primary"));
      await lab.configure({ clusterNetwork: lab.path("confdir/10-primary.conflist") });
    },
  });
  await addAndDelete(lab, { containerId: containerId("disk"), netns: lab.netns("a") });
  await expectSameBytes(lab, "first");
  await expectSameBytes(lab, "second");
});

test("inline delegates in daemon-config.json reach their plugins byte for byte", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      await lab.configure({ delegates: ["HERE"] });
      const text = await Bun.file(lab.path("daemon-config.json")).text();
      await writeFile(lab.path("daemon-config.json"), text.replace('"HERE"', listText(lab, "primary")));
    },
  });
  await addAndDelete(lab, { containerId: containerId("inline"), netns: lab.netns("a") });
  await expectSameBytes(lab, "first");
});

test("delegates in the runtime's own conf reach their plugins byte for byte", async () => {
  await using lab = await startNode({ prepare: (lab) => lab.configure({}) });
  const conf = lab.shimConf({ delegates: ["HERE"] }).replace('"HERE"', listText(lab, "primary"));
  await addAndDelete(lab, { containerId: containerId("call"), netns: lab.netns("a"), conf });
  await expectSameBytes(lab, "second");
});

test("a NetworkAttachmentDefinition's text reaches its plugins byte for byte", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "1.1.0", name: "p", ...lab.conf("fourth") }] }),
  });
  await lab.network("primary", listText(lab, "primary"));
  await lab.pod("web", { [networksAnnotation]: "primary" });
  await addAndDelete(lab, { containerId: containerId("nad"), netns: lab.netns("a"), args: lab.podArgs("web") });
  await expectSameBytes(lab, "first");
  await expectSameBytes(lab, "second");
});

test("the bytes survive the daemon's death and a change of the network's definition", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "1.1.0", name: "p", ...lab.conf("fourth") }] }),
  });
  await lab.network("primary", listText(lab, "primary"));
  await lab.pod("web", { [networksAnnotation]: "primary" });
  const call = { containerId: containerId("nad"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  await lab.killDaemon();
  await lab.network("primary", { cniVersion: "1.0.0", name: "other", ...lab.conf("third") });
  await lab.startDaemon();
  expectSilence(await lab.cni("DEL", call));
  await expectSameBytes(lab, "first");
  expect((await lab.calls()).some((seen) => seen.plugin === "third")).toBe(false);
});

test("a single conf keeps its own text; the name is put in only where it lacks one", async () => {
  await using lab = await startNode();
  const text = `{ "type":"second", "controlDir":"${lab.path("control")}", ${odd} }`;
  await lab.network("lan", text);
  await lab.pod("web", { [networksAnnotation]: "lan" });
  await addAndDelete(lab, { containerId: containerId("conf"), netns: lab.netns("a"), args: lab.podArgs("web") });
  expect((await onlyCall(lab, "ADD", "second")).stdin).toBe(withMembers(text, `"name":"lan","cniVersion":"0.1.0"`));
});

test("the undo of a failed ADD gets the bytes of ADD as well", async () => {
  await using lab = await startNode({ prepare: (lab) => lab.configure({ clusterNetwork: "primary" }) });
  await lab.network("primary", listText(lab, "primary"), "kube-system");
  await lab.script("second.ADD", "exit 1");
  await lab.until("the network's file was read", async () => {
    const error = errorOf(
      await lab.cni("ADD", { containerId: containerId("undo"), netns: lab.netns(`n${Math.random()}`.slice(0, 9)) }),
    );
    return error.code === 104 || undefined;
  });
  await expectSameBytes(lab, "first");
});

test("a default network chosen by annotation keeps its bytes too", async () => {
  await using lab = await startNode();
  await lab.network("primary", listText(lab, "primary"), "kube-system");
  await lab.pod("web", { [defaultNetworkAnnotation]: "primary" });
  await addAndDelete(lab, { containerId: containerId("chosen"), netns: lab.netns("a"), args: lab.podArgs("web") });
  await expectSameBytes(lab, "first");
});

test("no key in cni.dev/ is invented, and capabilities are kept from the plugin", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [{ cniVersion: "1.1.0", name: "p", ...lab.conf("first"), capabilities: { mac: true } }],
      }),
  });
  await addAndDelete(lab, { containerId: containerId("keys"), netns: lab.netns("a") });
  for (const call of await lab.calls()) {
    expect(call.stdin).not.toContain("cni.dev/");
    expect(call.stdin).not.toContain("capabilities");
  }
});
