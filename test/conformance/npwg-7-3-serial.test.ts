// NPWG 7.3: a pod's attachments are made one after the other, never two at once.
import { writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { containerId, expectSilence, networksAnnotation, resultOf, startNode } from "./node.ts";

/** Fails when another plugin of the same pod is at work. */
const alone = `mkdir "$control/busy" || exit 1; sleep 0.15; rmdir "$control/busy"`;

test("no two plugins of a pod overlap, at ADD, CHECK and DEL", async () => {
  await using lab = await startNode();
  for (const plugin of ["second", "third"]) await lab.network(plugin, { cniVersion: "1.0.0", ...lab.conf(plugin) });
  await lab.pod("web", { [networksAnnotation]: "second,third,second" });
  for (const verb of ["ADD", "CHECK", "DEL"]) await lab.script(verb, alone);
  const call = { containerId: containerId("serial"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await lab.calls()).toHaveLength(12);
});

test("two pods overlap where one pod would not", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", `while [ ! -e "$control/go" ]; do sleep 0.02; done`);
  const adds = ["a", "b"].map((name) => lab.cni("ADD", { containerId: containerId(name), netns: lab.netns(name) }));
  await lab.until("both run", async () => ((await lab.calls()).length === 2 ? true : undefined));
  await writeFile(lab.path("control/go"), "");
  for (const outcome of await Promise.all(adds)) resultOf(outcome);
});
