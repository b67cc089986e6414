import { expect, test } from "bun:test";
import { errorOf } from "../conformance/node.ts";
import { AdmissionNode } from "./admission-node.ts";

/** A plugin that computes for so many seconds. */
function busyFor(seconds: number): string {
  return `end=$(($(date +%s%3N) + ${seconds * 1_000})); while [ "$(date +%s%3N)" -lt "$end" ]; do :; done\n`;
}

test("a node whose plugins have become slow gives them more than their usual time, but not to one that hangs", async () => {
  await using node = await AdmissionNode.start({ attachCeiling: 1, addDelegatesMs: 2_000 });
  expect(await node.add("quick")).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.ADD", busyFor(1));
  for (const pod of ["slower", "slower-still"]) expect(await node.add(pod)).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.ADD", busyFor(4));
  expect(await node.add("slow")).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.ADD", "exec sleep 1000\n");
  const hung = await node.call("ADD", "hung");
  expect(errorOf(await hung.outcome)).toMatchObject({
    code: 105,
    msg: expect.stringMatching(
      /^primary \(eth0\): first was killed with its children because it ran longer than \d+ ms$/u,
    ),
  });
  // It becomes a hung one after five times the usual time.
  expect(hung.seen.tookMs).toBeLessThan(25_000);
});
