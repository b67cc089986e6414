import { expect, test } from "bun:test";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "../../base/log.ts";
import type { AttachmentRecord } from "../journal/attachment-record.ts";
import { MultusMirror } from "./multus-mirror.ts";
import { aFolder, aRecord } from "../journal/record.fixture.ts";

test("MultusMirror.repair removes half-written files and leaves the others alone", async () => {
  const cniDir = await aFolder();
  await mkdir(join(cniDir, "results"));
  const kept = ["other", ".levee-note", "results/x.tmp"];
  for (const name of [".levee-c1.tmp", "results/.levee-lan-c1-net1.tmp", ...kept])
    await writeFile(join(cniDir, name), "");
  await new MultusMirror(cniDir, silentLogger).repair([], () => undefined);
  expect((await readdir(cniDir, { recursive: true })).toSorted()).toEqual([...kept, "results"].toSorted());
});

test("MultusMirror.repair writes missing files of an attachment in use, and nothing for a complete or unused one", async () => {
  const cniDir = join(await aFolder(), "multus");
  const mirror = new MultusMirror(cniDir, silentLogger);
  const record = { ...aRecord(1), phase: "acknowledged" as const };
  await mirror.write(record);
  const whole = (await readdir(cniDir, { recursive: true })).toSorted();
  await rm(join(cniDir, "results"), { recursive: true });
  const missing: AttachmentRecord[] = [];
  await mirror.repair([{ ...record, phase: "intent" }, record], (found) => void missing.push(found));
  expect(await readdir(cniDir, { recursive: true })).toEqual([String(record.containerId)]);
  expect(missing).toEqual([record]);
  await mirror.write(record);
  expect((await readdir(cniDir, { recursive: true })).toSorted()).toEqual(whole);
  await mirror.repair([record], (found) => void missing.push(found));
  expect(missing).toHaveLength(1);
});

test("MultusMirror.repair does without a folder", async () => {
  const cniDir = join(await aFolder(), "none");
  await new MultusMirror(cniDir, silentLogger).repair([], () => undefined);
  expect(await readdir(join(cniDir, "..")).then((names) => names.includes("none"))).toBe(false);
});
