// CNI 1.1 as libcni 1.3 has it: plugins in a folder named after the network belong to the chain, unless the list forbids it.
import { mkdir, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, expectSilence, onlyCall, resultOf, startNode, stdinOf, story } from "./node.ts";

async function confdir(
  lab: Lab,
  list: Record<string, unknown>,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await writeFile(
    lab.path("confdir/10-primary.conflist"),
    JSON.stringify({ cniVersion: "1.0.0", name: "primary", ...list }),
  );
  await mkdir(lab.path("confdir/primary"));
  for (const [name, text] of Object.entries(files)) await writeFile(lab.path("confdir/primary", name), text);
  await lab.configure({ clusterNetwork: lab.path("confdir/10-primary.conflist") });
}

test("the folder's plugins run after the list's, by file name, and are deleted before them", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      confdir(
        lab,
        { plugins: [lab.conf("first")] },
        {
          "20-b.conf": JSON.stringify(lab.conf("third", { big: 1 })),
          "10-a.conf": JSON.stringify(lab.conf("second")),
          "notes.txt": "not JSON",
        },
      ),
  });
  const call = { containerId: containerId("sub"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([
    "ADD first eth0",
    "ADD second eth0",
    "ADD third eth0",
    "DEL third eth0",
    "DEL second eth0",
    "DEL first eth0",
  ]);
  expect(stdinOf(await onlyCall(lab, "ADD", "third"))).toMatchObject({
    name: "primary",
    cniVersion: "1.0.0",
    prevResult: expect.any(Object),
  });
  expect(await leftovers(lab)).toEqual([]);
});

test("loadOnlyInlinedPlugins keeps the folder out", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      confdir(
        lab,
        { loadOnlyInlinedPlugins: true, plugins: [lab.conf("first")] },
        { "10-a.conf": JSON.stringify(lab.conf("second")) },
      ),
  });
  resultOf(await lab.cni("ADD", { containerId: containerId("inl"), netns: lab.netns("a") }));
  expect(await story(lab)).toEqual(["ADD first eth0"]);
});

test("a list without plugins of its own takes them all from the folder", async () => {
  await using lab = await startNode({
    prepare: (lab) => confdir(lab, {}, { "10-a.conf": JSON.stringify(lab.conf("second")) }),
  });
  resultOf(await lab.cni("ADD", { containerId: containerId("all"), netns: lab.netns("a") }));
  expect(await story(lab)).toEqual(["ADD second eth0"]);
});

test("a broken file in the folder is an error that names it, not a chain with a plugin less", async () => {
  await using lab = await startNode({
    prepare: (lab) => confdir(lab, { plugins: [lab.conf("first")] }, { "10-a.conf": "{" }),
  });
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("bad"), netns: lab.netns("a") }));
  expect(error.msg).toContain("10-a.conf");
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a plugin added to the folder after ADD is not deleted with it", async () => {
  await using lab = await startNode({ prepare: (lab) => confdir(lab, { plugins: [lab.conf("first")] }, {}) });
  const call = { containerId: containerId("late"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await writeFile(lab.path("confdir/primary/10-a.conf"), JSON.stringify(lab.conf("second")));
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
});

test("the folder serves a network whose name a NetworkAttachmentDefinition bears", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      confdir(lab, { plugins: [lab.conf("first")] }, { "10-a.conf": JSON.stringify(lab.conf("second")) }),
  });
  await lab.network("primary", "");
  await lab.pod("web", { "k8s.v1.cni.cncf.io/networks": "primary" });
  resultOf(await lab.cni("ADD", { containerId: containerId("nad"), netns: lab.netns("a"), args: lab.podArgs("web") }));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second eth0", "ADD first net1", "ADD second net1"]);
});
