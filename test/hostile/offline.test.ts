import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { LeaksAnswer, NodeAnswer } from "../../src/wire/node-view.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { Lab } from "../lab/lab.ts";
import { callFields } from "./call-frame.ts";
import { Health } from "./health.ts";
import { mutateBytes } from "./mutate.ts";
import { residentHand, warmUp } from "./obedient-hand.ts";
import { trials } from "./random.ts";

setDefaultTimeout(60_000);

let lab: Lab;
let health: Health;
let folder: string;

beforeEach(async () => {
  lab = await Lab.make();
  await lab.plugin("first");
  await lab.configure({
    delegates: [{ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }],
    undoRetryMs: 100,
    addLookupMs: 300,
  });
  folder = join(lab.stateDir, "offline");
});

afterEach(() => lab.remove());

async function start(): Promise<void> {
  const { pid = 0 } = await lab.startDaemon();
  await warmUp(lab);
  health = Health.of(lab, pid);
}

function withSum(frames: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(frames));
  return Buffer.concat([frames, sum]);
}

function deleteRecord(container: string, ifname = "eth0"): Buffer {
  const call = encodeFrame("CALL", callFields({ verb: "DEL", container_id: container, ifname }));
  return withSum(Buffer.concat([call, encodeFrame("CONFIG", [["config", lab.shimConf()]])]));
}

function leave(name: string, content: Uint8Array): void {
  writeFileSync(join(folder, `.${process.pid}.tmp`), content);
  renameSync(join(folder, `.${process.pid}.tmp`), join(folder, name));
}

/** Folders outside the daemon's own that a name must never lead to. */
function bait(): void {
  mkdirSync(lab.path("bait"), { recursive: true });
  writeFileSync(lab.path("bait/precious"), "do not touch");
}

test("links, pipes, folders and devices among the offline records neither stop the daemon nor are followed", async () => {
  bait();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  symlinkSync("/dev/zero", join(folder, "zero:eth0.del"));
  symlinkSync(lab.path("bait/precious"), join(folder, "link:eth0.del"));
  symlinkSync("loop:eth0.del", join(folder, "loop:eth0.del"));
  symlinkSync("/nowhere", join(folder, "dangling:eth0.del"));
  symlinkSync(lab.path("bait"), join(folder, `${"ab".repeat(16)}.ack`));
  mkdirSync(join(folder, "folder:eth0.del"));
  mkdirSync(join(folder, "inside"));
  spawnSync("mkfifo", [join(folder, "pipe:eth0.del")]);
  await start();
  leave("good:eth0.del", deleteRecord("good"));
  const hand = residentHand(lab);
  await lab.until(
    "the good record is carried out",
    () => Promise.resolve(!existsSync(join(folder, "good:eth0.del")) || undefined),
    5_000,
  );
  await hand.stop();
  expect(readFileSync(lab.path("bait/precious"), "utf8")).toBe("do not touch");
  await health.expectSound();
});

test("names that no shim would write are left alone", async () => {
  bait();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await start();
  for (const name of [
    "..del",
    "...del",
    ".del",
    "a b:eth0.del",
    ":eth0.del",
    "ä:eth0.del",
    `${"x".repeat(251)}.del`,
    "zz.ack",
    `${"g".repeat(32)}.ack`,
    `${"a".repeat(31)}.ack`,
  ]) {
    leave(name, deleteRecord("x"));
  }
  leave("a\nb:eth0.del", deleteRecord("x"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await health.expectSound();
});

test("a record under another name than its own is carried out once, and goes", async () => {
  await start();
  leave("other:eth0.del", deleteRecord("mine"));
  const hand = residentHand(lab);
  await lab.until("it is gone", () => Promise.resolve(!existsSync(join(folder, "other:eth0.del")) || undefined), 5_000);
  await hand.stop();
  await health.expectSound();
});

test("names in a record that could leave a folder are refused, and the record is put aside", async () => {
  bait();
  await start();
  const hostile = [
    deleteRecord("../../bait/precious"),
    deleteRecord(".."),
    deleteRecord("a/b"),
    deleteRecord("x", "../../bait"),
    deleteRecord("x", ".."),
    deleteRecord("x", "a/b"),
    deleteRecord("x\0y"),
    deleteRecord("\u001b[2J"),
    deleteRecord("x".repeat(300)),
    deleteRecord("é"),
  ];
  for (const [index, content] of hostile.entries()) leave(`hostile${index}:eth0.del`, content);
  const hand = residentHand(lab);
  await lab.until("they are put aside", () => Promise.resolve(readdirSync(folder).length === 0 || undefined), 5_000);
  await hand.stop();
  expect(readFileSync(lab.path("bait/precious"), "utf8")).toBe("do not touch");
  expect(lab.daemonLog).toContain("offline record");
  await health.expectSound();
});

test("five hundred mutated records are put aside or carried out, and the daemon goes on", async () => {
  await start();
  const original = deleteRecord("mutant");
  const ack = withSum(encodeFrame("ACK", [["printed", 1]]));
  let count = 0;
  for (const random of trials(500)) {
    const isAck = random.below(4) === 0;
    const mutated = mutateBytes(random, isAck ? ack : original);
    // Half of them with a checksum that is right, so that the frames inside are read.
    const content = random.below(2) === 0 ? mutated : withSum(mutated.subarray(0, -4));
    leave(isAck ? `${random.seed.toString(16).padStart(32, "0")}.ack` : `m${random.seed}:eth0.del`, content);
    count += 1;
  }
  expect(count).toBeGreaterThan(0);
  const hand = residentHand(lab);
  await lab.until("the folder is empty", () => Promise.resolve(readdirSync(folder).length === 0 || undefined), 20_000);
  await hand.stop();
  const { leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  expect(leaks).toEqual([]);
  expect((await lab.ask<NodeAnswer>({ ask: "node" })).software).toContain("levee");
  await health.expectSound();
  // Quarantine is bounded, and does not prevent the next start.
  expect(readdirSync(join(lab.stateDir, "quarantine")).length).toBeLessThanOrEqual(256);
  await lab.killDaemon();
  await lab.startDaemon();
});

test("more records than the shims would ever leave are read in rounds", async () => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let index = 0; index < 2_500; index += 1)
    writeFileSync(join(folder, `many${index}:eth0.del`), deleteRecord(`many${index}`));
  await start();
  const hand = residentHand(lab);
  await lab.until("the folder is empty", () => Promise.resolve(readdirSync(folder).length === 0 || undefined), 30_000);
  await hand.stop();
  await health.expectSound();
  rmSync(folder, { recursive: true });
});
