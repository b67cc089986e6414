// A drain with slow plugins: deletes run in the network namespace of their pod, or the runtime is told to come again.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { attachments, errorOf } from "../conformance/node.ts";
import type { Lab } from "../lab/lab.ts";
import { AdmissionNode, waitsFor } from "./admission-node.ts";

function promised(lab: Lab): readonly string[] {
  const folder = lab.path("state/offline");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".del")) : [];
}

async function namespacesAtDel(lab: Lab): Promise<readonly string[]> {
  return (await lab.calls()).filter(({ command }) => command === "DEL").map(({ env }) => env["CNI_NETNS"] ?? "");
}

test("a drain of slow DELs widens their slots: none is put off, and all run in their namespace", async () => {
  await using node = await AdmissionNode.start({ delQueueMs: 12_000 });
  const pods = Array.from({ length: 60 }, (_, index) => `pod${index}`);
  for (const pod of pods) expect(await node.add(pod)).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.DEL", "sleep 3");
  const calls = await Promise.all(pods.map((pod) => node.call("DEL", pod)));
  for (const { outcome } of calls) expect(await outcome).toMatchObject({ exitCode: 0, stdout: "" });
  expect(promised(node.lab)).toEqual([]);
  const namespaces = await namespacesAtDel(node.lab);
  expect(namespaces).toHaveLength(pods.length);
  expect(namespaces).not.toContain("");
  expect(await attachments(node.lab)).toEqual([]);
});

test("a DEL that waits too long for a plugin that may need the namespace fails, and the next one runs in it", async () => {
  await using node = await AdmissionNode.start({ detachCeiling: 1, delQueueMs: 1_000 });
  for (const pod of ["a", "b"]) expect(await node.add(pod)).toMatchObject({ exitCode: 0 });
  await node.lab.script("first.DEL", waitsFor("deleted"));
  const first = await node.call("DEL", "a");
  await node.untilRan("DEL", "a");
  const second = await node.call("DEL", "b");
  expect(errorOf(await second.outcome)).toMatchObject({
    code: 11,
    msg: expect.stringContaining("its plugins may need the network namespace"),
  });
  expect(second.seen.tookMs).toBeWithin(700, 6_000);
  expect(promised(node.lab)).toEqual([]);
  writeFileSync(node.lab.path("control", "deleted"), "");
  expect(await first.outcome).toMatchObject({ exitCode: 0 });
  expect(await (await node.call("DEL", "b")).outcome).toMatchObject({ exitCode: 0 });
  expect(await namespacesAtDel(node.lab)).not.toContain("");
  expect(await attachments(node.lab)).toEqual([]);
});
