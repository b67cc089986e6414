// CNI 1.1, section 4: a plugin that the kernel does not execute has done nothing at ADD; at DEL its work may still be there.
import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, expectSilence, leaks, networksAnnotation, resultOf, startNode, story } from "./node.ts";

/** The header of a program for a machine that does not exist. */
const foreignElf = Buffer.concat([
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]),
  Buffer.alloc(8),
  Buffer.from([2, 0, 0xff, 0xfe, 1, 0, 0, 0]),
  Buffer.alloc(40),
]);

const unrunnable = [
  ["of a foreign format", "echo a shell ran this\n"],
  ["empty", ""],
  ["for another machine", foreignElf],
  ["a script whose interpreter is missing", "#!/no/such/shell\necho no\n"],
] as const;

/** A pod on a network of the plugins `second`, `third` and `fourth`. */
async function podOnLan(lab: Lab): Promise<CniCall> {
  const plugins = [lab.conf("second"), lab.conf("third"), lab.conf("fourth")];
  await lab.network("lan", { cniVersion: "1.0.0", name: "lan", plugins });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  return { containerId: containerId("run"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

async function spoil(lab: Lab, plugin: string, content: string | Buffer): Promise<void> {
  await rm(lab.path("bin", plugin));
  await writeFile(lab.path("bin", plugin), content, { mode: 0o755 });
}

for (const [what, content] of unrunnable) {
  test(`ADD with a plugin that is ${what} undoes the plugins before it and leaves no leak`, async () => {
    await using lab = await startNode();
    const call = await podOnLan(lab);
    await spoil(lab, "third", content);
    expect(errorOf(await lab.cni("ADD", call))).toMatchObject({
      code: 119,
      msg: expect.stringContaining("default/lan (net1): Cannot run third for ADD: "),
    });
    expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "DEL second net1", "DEL first eth0"]);
    expectSilence(await lab.cni("DEL", call));
    expect(await leftovers(lab)).toEqual([]);
  });
}

test("DEL with a plugin that can no longer be executed runs the others, and the leak is gone once it is repaired", async () => {
  await using lab = await startNode({ settings: { delAttemptsMax: 2 }, withHand: true });
  const call = await podOnLan(lab);
  resultOf(await lab.cni("ADD", call));
  await lab.forgetCalls();
  await spoil(lab, "third", "");
  expect(errorOf(await lab.cni("DEL", call))).toMatchObject({ code: 119 });
  expect(await story(lab)).toEqual(["DEL fourth net1", "DEL second net1", "DEL first eth0"]);
  // Its ADD ran, so what it set up is a leak until its DEL runs.
  expectSilence(await lab.cni("DEL", call));
  expect((await leaks(lab)).map(({ network }) => network)).toEqual(["default/lan"]);
  await rm(lab.path("bin/third"));
  await lab.plugin("third");
  await lab.forgetCalls();
  await lab.ask({ ask: "leaks", retry: true });
  await lab.until("the leak is resolved", async () => ((await leaks(lab)).length === 0 ? true : undefined));
  expect(await story(lab)).toEqual(["DEL third net1"]);
});
