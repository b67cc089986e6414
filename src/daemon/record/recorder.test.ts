import { afterEach, expect, test } from "bun:test";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogFields, Logger } from "../../base/log.ts";
import { silentLogger } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { readStory } from "../../state/recorder/recorder-read.ts";
import { recorderFolder } from "../../state/recorder/recorder-segments.ts";
import { Recorder } from "./recorder.ts";

const subject = { namespace: "shop", name: "web", containerId: "c1", verb: "ADD" };
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) {
    spawnSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

class Site {
  readonly stateDir = mkdtempSync(join(tmpdir(), "levee-recorder-"));
  readonly clock = new VirtualClock();
  readonly said: string[] = [];

  constructor() {
    folders.push(this.stateDir);
  }

  recorder(): Recorder {
    const say = (message: string, fields: LogFields = {}): void =>
      void this.said.push(`${message} ${String(fields["reason"])}`);
    const logger: Logger = { ...silentLogger, warn: say, info: say };
    const { stateDir, clock } = this;
    const recorder = new Recorder({ stateDir, clock, logger, bytesMax: 262_144, bootId: "boot" });
    recorder.start();
    return recorder;
  }

  async onDisk(): Promise<readonly string[]> {
    const { entries } = await readStory(recorderFolder(this.stateDir), "shop", "web");
    return entries.map(({ what }) => what);
  }
}

test("note reaches the file within 25 ms, and a failure at once", async () => {
  const site = new Site();
  const recorder = site.recorder();
  recorder.note(subject, "asked");
  expect(await site.onDisk()).toEqual([]);
  await site.clock.advance(25);
  expect(await site.onDisk()).toEqual(["asked"]);
  recorder.note(subject, "permitted");
  recorder.note(subject, "failed", { detail: "because" });
  expect(await site.onDisk()).toEqual(["asked", "permitted", "failed"]);
});

test("of returns the latest notes, with the ends of long texts", async () => {
  const recorder = new Site().recorder();
  recorder.note(subject, "ran", { plugin: "bridge", stderr: `${"x".repeat(5_000)}end`, tookMs: 3 });
  const { entries } = await recorder.of("shop", "web");
  expect(entries[0]?.facts).toMatchObject({ plugin: "bridge", tookMs: 3 });
  expect(entries[0]?.facts["stderr"]).toHaveLength(1_024);
  expect(entries[0]?.facts["stderr"]).toEndWith("end");
});

test("a long batch does not wait", async () => {
  const site = new Site();
  const recorder = site.recorder();
  for (let count = 0; count < 100; count += 1) recorder.note(subject, "ran", { stderr: "y".repeat(1_000) });
  expect(await site.onDisk()).toHaveLength(64);
});

test("start notes how the previous daemon ended", async () => {
  const site = new Site();
  const first = site.recorder();
  first.note(subject, "asked");
  first.flush();
  site.recorder().stop();
  site.recorder();
  const { entries } = await readStory(recorderFolder(site.stateDir), "shop", "web");
  expect(entries.map(({ what, facts }) => `${what}: ${facts["detail"] ?? ""}`)).toEqual([
    "asked: ",
    "daemon-started: the one before it was killed or died",
    "daemon-ended: it was asked to",
    "daemon-started: the one before it had ended in order",
  ]);
});

test("a full disk stops it with one log line, leaves the journal its reserve, and it goes on when there is room", async () => {
  const site = new Site();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k,mode=0700", "levee-test", site.stateDir]);
  const recorder = site.recorder();
  recorder.note(subject, "asked");
  recorder.flush();
  const ballast = join(site.stateDir, "ballast");
  writeFileSync(ballast, Buffer.alloc(400_000, 1));
  for (let count = 0; count < 10; count += 1) {
    recorder.note(subject, "failed", { detail: `no ${count}` });
    await site.clock.advance(1_000);
  }
  expect(site.said).toHaveLength(1);
  expect(site.said[0]).toContain("are left to the journal");
  expect(recorder.notice).toContain("cannot write");
  rmSync(ballast);
  await site.clock.advance(5_000);
  recorder.note(subject, "asked");
  recorder.note(subject, "failed");
  expect(recorder.notice).toBeUndefined();
  expect(site.said).toHaveLength(2);
  const { entries } = await recorder.of("shop", "web");
  expect(entries.map(({ what }) => what)).toEqual(["asked", "recorder-gap", "asked", "failed"]);
  expect(entries[1]?.facts["detail"]).toStartWith("10 entries could not be written");
});

test("a state folder that cannot be written is logged once, and note never throws", async () => {
  const site = new Site();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k,ro", "levee-test", site.stateDir]);
  const recorder = site.recorder();
  recorder.note(subject, "failed");
  recorder.note(subject, "failed");
  expect(site.said.join()).toContain("EROFS");
  expect(site.said).toHaveLength(1);
  expect((await recorder.of("shop", "web")).entries).toEqual([]);
  execFileSync("mount", ["-o", "remount,rw", site.stateDir]);
  await site.clock.advance(5_000);
  recorder.note(subject, "failed");
  expect(await site.onDisk()).toEqual(["failed"]);
  recorder.stop();
});
