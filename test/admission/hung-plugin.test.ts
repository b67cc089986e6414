import { expect, test } from "bun:test";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { errorOf, leaks, networksAnnotation } from "../conformance/node.ts";
import { AdmissionNode } from "./admission-node.ts";

test("plugins that hang give their slots to others, and fail by their deadline with their name", async () => {
  await using node = await AdmissionNode.start({ attachCeiling: 2, addDelegatesMs: 12_000 });
  await node.lab.network("lan", { cniVersion: "1.0.0", ...node.lab.conf("second") });
  await node.lab.script("second.ADD", "exec sleep 1000\n");
  const annotations = { [networksAnnotation]: "lan" };
  const hung = await Promise.all(["a", "b"].map((pod) => node.call("ADD", pod, { annotations })));
  await node.lab.until("both hang", async () =>
    (await node.lab.calls()).filter(({ plugin }) => plugin === "second").length === 2 ? true : undefined,
  );
  const other = await node.call("ADD", "web");
  expect(await other.outcome).toMatchObject({ exitCode: 0 });
  expect(other.seen.tookMs).toBeLessThan(9_000);
  expect(hung.map(({ seen }) => seen.answer)).toEqual([undefined, undefined]);
  for (const { outcome } of hung) {
    expect(errorOf(await outcome)).toMatchObject({
      code: 105,
      msg: expect.stringMatching(
        /^default\/lan \(net1\): second was killed with its children because it ran longer than/u,
      ),
    });
  }
  expect(await leaks(node.lab)).toEqual([]);
  expect(await node.lab.ask<NodeAnswer>({ ask: "node" })).toMatchObject({ running: 0, waiting: 0, attachments: 1 });
});

test("who waits for a network whose plugin hangs is told of it, with the names of both", async () => {
  await using node = await AdmissionNode.start({ attachCeiling: 1, addQueueMs: 3_000, addDelegatesMs: 8_000 });
  await node.lab.network("lan", { cniVersion: "1.0.0", ...node.lab.conf("second") });
  await node.lab.script("second.ADD", "exec sleep 1000\n");
  const annotations = { [networksAnnotation]: "lan" };
  const pods = ["a", "b", "c", "d", "e", "f"];
  const calls = await Promise.all(pods.map((pod) => node.call("ADD", pod, { annotations })));
  const answers = await Promise.all(calls.map(({ outcome }) => outcome.then(errorOf)));
  const waited = answers.filter((answer) => answer?.code === 11);
  expect(waited.length).toBeGreaterThan(1);
  for (const { msg } of waited) {
    expect(msg).toMatch(
      /^Cannot attach now: waited [0-9.]+ s because network default\/lan is blocked by its hung plugin second, position/u,
    );
  }
});
