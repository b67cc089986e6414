// A drain with slow plugins: deletes run in the network namespace of their pod, or the runtime is told to come again.
import { expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
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

/** A lock that plugins wait for without using CPU, as they wait for an address manager. */
async function lockedFile(lab: Lab): Promise<{ readonly wait: string; free(): void }> {
  const file = lab.path("control/lock");
  const holder = spawn("flock", ["--no-fork", file, "sleep", "300"], { stdio: "ignore" });
  await lab.until("the lock is held", () => {
    const { status } = spawnSync("flock", ["--nonblock", "--shared", file, "true"]);
    return Promise.resolve(status === 1 ? true : undefined);
  });
  return { wait: 'flock --shared "$control/lock" true', free: () => holder.kill("SIGKILL") };
}

test("a drain of DELs that wait for something widens their slots: none is put off, and all run in their namespace", async () => {
  await using node = await AdmissionNode.start();
  // More than the 64 that may hang without a slot, and the four slots under any load.
  const pods = Array.from({ length: 76 }, (_, index) => `pod${index}`);
  for (let at = 0; at < pods.length; at += 4)
    for (const added of await Promise.all(pods.slice(at, at + 4).map((pod) => node.add(pod))))
      expect(added).toMatchObject({ exitCode: 0 });
  const lock = await lockedFile(node.lab);
  await node.lab.script("first.DEL", lock.wait);
  const calls = await Promise.all(pods.map((pod) => node.call("DEL", pod)));
  const allRun = async (): Promise<true | undefined> =>
    (await node.ran("DEL")).length === pods.length ? true : undefined;
  await node.lab.until("all DELs run at once", allRun, 35_000);
  lock.free();
  for (const { outcome } of calls) expect(await outcome).toMatchObject({ exitCode: 0, stdout: "" });
  expect(promised(node.lab)).toEqual([]);
  expect(await namespacesAtDel(node.lab)).not.toContain("");
  expect(await attachments(node.lab)).toEqual([]);
}, 120_000);

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
