// Disk before side effect: with a full state disk ADD is refused before any plugin runs, and DEL still works.
import { spawnSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { attachments, containerId, errorOf, expectSilence, resultOf, startNode, story } from "./node.ts";

async function tinyDisk(lab: Lab): Promise<void> {
  await mkdir(lab.stateDir, { recursive: true });
  const { status, stderr } = spawnSync(
    "mount",
    ["-t", "tmpfs", "-o", "size=512k,mode=700", "levee-test", lab.stateDir],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`mount failed: ${stderr}`);
}

function unmountAtEnd(lab: Lab): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: () => {
      spawnSync("umount", ["-l", lab.stateDir]);
      return Promise.resolve();
    },
  };
}

/** Takes every free block. */
async function fill(lab: Lab): Promise<void> {
  const { status } = spawnSync("dd", ["if=/dev/zero", `of=${join(lab.stateDir, "ballast")}`, "bs=4096"], {
    stdio: "ignore",
  });
  expect(status).toBe(1);
}

test("ADD is refused with the reason and no plugin runs; DEL works; when there is room again ADD does too", async () => {
  await using lab = await startNode({ prepare: tinyDisk });
  await using _disk = unmountAtEnd(lab);
  const [one, two] = ["one", "two"].map((name) => ({ containerId: containerId(name), netns: lab.netns(name) }));
  resultOf(await lab.cni("ADD", one!));
  resultOf(await lab.cni("ADD", two!));
  await fill(lab);
  await lab.forgetCalls();

  // The last block of the log may still take a record or two, so it is filled first.
  const added: CniCall[] = [];
  const netns = lab.netns("full");
  const refused = await lab.until("an ADD is refused before a plugin runs", async () => {
    const call = { containerId: containerId(`full${added.length}x`), netns, ifname: `eth${added.length}` };
    await lab.forgetCalls();
    const outcome = await lab.cni("ADD", call);
    if (outcome.exitCode === 0) added.push(call);
    return outcome.exitCode !== 0 && (await lab.calls()).length === 0 ? outcome : undefined;
  });
  expect(errorOf(refused)).toMatchObject({ code: 109, msg: expect.stringContaining("ENOSPC") });
  expect(await attachments(lab)).toHaveLength(2 + added.length);
  for (const call of added) expectSilence(await lab.cni("DEL", call));

  expectSilence(await lab.cni("DEL", one!));
  expectSilence(await lab.cni("DEL", two!));
  expect(await leftovers(lab)).toEqual([]);

  await rm(join(lab.stateDir, "ballast"));
  resultOf(await lab.cni("ADD", one!));
  await lab.killDaemon();
  await lab.startDaemon();
  expect(await attachments(lab)).toHaveLength(1);
  expectSilence(await lab.cni("DEL", one!));
  expect(await leftovers(lab)).toEqual([]);
});

test("a disk that is full before the daemon starts keeps it from ADD, not from DEL and STATUS", async () => {
  await using lab = await startNode({ prepare: tinyDisk });
  await using _disk = unmountAtEnd(lab);
  const call = { containerId: containerId("before"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.killDaemon();
  await rm(join(lab.stateDir, "reserve"), { force: true });
  await fill(lab);
  await lab.startDaemon();
  expectSilence(await lab.cni("STATUS", { containerId: "", netns: "", ifname: "" }));
  expectSilence(await lab.cni("DEL", { containerId: containerId("never"), netns: lab.netns("b") }));
  const deleted = await lab.cni("DEL", call);
  expect(deleted.exitCode).toBe(0);
  expect(await story(lab)).toEqual(["ADD first eth0", "STATUS first none", "DEL first eth0"]);
});

test("a full disk at a DEL with the daemon away is an error, as nothing would remember it", async () => {
  await using lab = await startNode({ prepare: tinyDisk });
  await using _disk = unmountAtEnd(lab);
  const call = { containerId: containerId("away"), netns: lab.netns("a"), conf: lab.shimConf({ delPatienceMs: 100 }) };
  resultOf(await lab.cni("ADD", call));
  await lab.killDaemon();
  await writeFile(join(lab.stateDir, "ballast"), "");
  await fill(lab);
  const error = errorOf(await lab.cni("DEL", call));
  expect(error.msg).toContain("offline");
  await rm(join(lab.stateDir, "ballast"));
  expectSilence(await lab.cni("DEL", call));
  await lab.startDaemon();
  await lab.startHand();
  await lab.until("the delete is carried out", async () => ((await leftovers(lab)).length === 0 ? true : undefined));
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
});
