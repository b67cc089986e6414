import { describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  hasOffline,
  offlineFolderOf,
  readOfflineFolder,
  rejectOffline,
  removeOffline,
  sweepOffline,
} from "./offline-records.ts";
import { listQuarantine } from "../files/quarantine.ts";
import { aFolder, containerId, openIn } from "./record.fixture.ts";

function frame(payload: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return Buffer.concat([length, Buffer.from(payload)]);
}

function sealed(...frames: readonly Buffer[]): Buffer {
  const body = Buffer.concat(frames);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(body));
  return Buffer.concat([body, sum]);
}

async function folderWith(files: Readonly<Record<string, Buffer>>): Promise<string> {
  const stateDir = await aFolder();
  await mkdir(offlineFolderOf(stateDir));
  for (const [name, content] of Object.entries(files)) await writeFile(join(offlineFolderOf(stateDir), name), content);
  return stateDir;
}

const acknowledgement = `${"0123456789abcdef".repeat(2)}.ack`;

describe("readOfflineFolder", () => {
  test("makes the folder when there is none", async () => {
    const stateDir = await aFolder();
    expect(await readOfflineFolder(stateDir)).toEqual([]);
    expect((await stat(offlineFolderOf(stateDir))).mode & 0o777).toBe(0o700);
  });

  test("gives the payload of each frame", async () => {
    const stateDir = await folderWith({
      "abc:eth0.del": sealed(frame("call"), frame("config")),
      [acknowledgement]: sealed(frame("ack")),
    });
    const records = await readOfflineFolder(stateDir);
    const plain = records.map(({ name, kind, frames }) => [
      name,
      kind,
      ...frames.map((bytes) => Buffer.from(bytes).toString()),
    ]);
    expect(plain).toEqual([
      [acknowledgement, "ack", "ack"],
      ["abc:eth0.del", "del", "call", "config"],
    ]);
  });

  test("leaves alone what a shim is writing, and names that are not records", async () => {
    const names = [".shim-77.tmp", "note.txt", "short.ack", "XYZ.ack", ".hidden.del", ".del"];
    const stateDir = await folderWith(Object.fromEntries(names.map((name) => [name, Buffer.from("x")])));
    expect(await readOfflineFolder(stateDir)).toEqual([]);
    expect(await readdir(offlineFolderOf(stateDir))).toHaveLength(names.length);
  });

  test("a delete cut at any byte is put aside, the others are read", async () => {
    const whole = sealed(frame("call"), frame("config"));
    for (let length = 0; length < whole.length; length += 1) {
      const stateDir = await folderWith({ "a:eth0.del": whole.subarray(0, length), "b:eth0.del": whole });
      expect((await readOfflineFolder(stateDir)).map(({ name }) => name)).toEqual(["b:eth0.del"]);
      const [aside] = await listQuarantine(stateDir);
      expect(aside).toMatchObject({ source: "offline", bytes: length });
      expect(aside?.reason).toContain("(a:eth0.del)");
      expect(await readdir(offlineFolderOf(stateDir))).toEqual(["b:eth0.del"]);
    }
  });

  test("wrong numbers of frames, lengths that lie and oversized files are put aside", async () => {
    const lying = Buffer.from("ffffff7f00", "hex");
    const stateDir = await folderWith({
      "one:eth0.del": sealed(frame("call")),
      "three:eth0.del": sealed(frame("a"), frame("b"), frame("c")),
      "lying:eth0.del": sealed(lying),
      "stray:eth0.del": sealed(frame("a"), frame("b"), Buffer.from("xy")),
      "huge:eth0.del": Buffer.alloc(2_200_000),
      [acknowledgement]: sealed(frame("a"), frame("b")),
    });
    expect(await readOfflineFolder(stateDir)).toEqual([]);
    const reasons = (await listQuarantine(stateDir)).map(({ reason }) => reason).join("\n");
    for (const seen of [
      "holds 1 and 0 bytes more",
      "holds 3",
      "frame 1 runs past",
      "2 bytes more",
      "2200000 bytes",
      "must hold 1 frames",
    ])
      expect(reasons).toContain(seen);
  });

  test("a damaged offline record does not make the journal doubt itself", async () => {
    const stateDir = await folderWith({ "a:eth0.del": Buffer.from("junk") });
    await readOfflineFolder(stateDir);
    const journal = await openIn(stateDir);
    expect(journal.quarantined()).toHaveLength(1);
    expect(journal.knows(containerId("stranger"))).toBe("never-added");
    await journal.close();
  });
});

describe("removeOffline", () => {
  test("removes, twice if need be, and refuses names that leave the folder", async () => {
    const stateDir = await folderWith({ "a:eth0.del": sealed(frame("call"), frame("config")) });
    await removeOffline(stateDir, "a:eth0.del");
    await removeOffline(stateDir, "a:eth0.del");
    await writeFile(join(stateDir, "precious.del"), "stay");
    for (const name of ["../precious.del", "..", "", "/etc/passwd", "a\0.del", "a/../../precious.del"]) {
      expect(removeOffline(stateDir, name)).rejects.toMatchObject({ code: "internal" });
    }
    expect(await readFile(join(stateDir, "precious.del"), "utf8")).toBe("stay");
  });
});

test("readOfflineFolder leaves alone what no shim makes, and reads only the kinds it is asked for", async () => {
  const record = sealed(frame("call"), frame("config"));
  const stateDir = await folderWith({ "a:eth0.del": record, [acknowledgement]: sealed(frame("ack")) });
  await symlink("/dev/zero", join(offlineFolderOf(stateDir), "zero:eth0.del"));
  await symlink("a:eth0.del", join(offlineFolderOf(stateDir), "link:eth0.del"));
  await mkdir(join(offlineFolderOf(stateDir), "folder:eth0.del"));
  expect((await readOfflineFolder(stateDir)).map(({ name }) => name)).toEqual([acknowledgement, "a:eth0.del"]);
  expect((await readOfflineFolder(stateDir, ["ack"])).map(({ name }) => name)).toEqual([acknowledgement]);
});

test("hasOffline tells a record from a missing file and from anything else", async () => {
  const stateDir = await folderWith({ "a:eth0.del": sealed() });
  await mkdir(join(offlineFolderOf(stateDir), "folder:eth0.del"));
  expect(hasOffline(stateDir, "a:eth0.del")).toBe(true);
  expect(hasOffline(stateDir, "b:eth0.del")).toBe(false);
  expect(hasOffline(stateDir, "folder:eth0.del")).toBe(false);
});

test("rejectOffline keeps the record's content and the reason", async () => {
  const content = sealed(frame("call"), frame("config"));
  const stateDir = await folderWith({ "a:eth0.del": content });
  await rejectOffline(stateDir, "a:eth0.del", "it makes no sense");
  expect(await readdir(offlineFolderOf(stateDir))).toEqual([]);
  const [kept] = await listQuarantine(stateDir);
  expect(kept).toMatchObject({ source: "offline", reason: "it makes no sense (a:eth0.del)", bytes: content.length });
});

test("removeOffline has nothing to do for a name that is too long for any file", async () => {
  const stateDir = await folderWith({});
  await removeOffline(stateDir, `${"x".repeat(253)}:eth0.del`);
});

test("sweepOffline removes only what a shim left half written long ago", async () => {
  const torn = Buffer.from("half");
  const stateDir = await folderWith({ ".shim-1.tmp": torn, ".shim-x.tmp": torn, "a:eth0.del": torn });
  const folder = offlineFolderOf(stateDir);
  const { mtimeMs } = await stat(join(folder, ".shim-1.tmp"));
  await sweepOffline(stateDir, mtimeMs + 60_000, 60_000);
  expect(await readdir(folder)).toHaveLength(3);
  await sweepOffline(stateDir, mtimeMs + 60_001, 60_000);
  expect((await readdir(folder)).toSorted()).toEqual([".shim-x.tmp", "a:eth0.del"]);
});

test("readOfflineFolder tells of a record that can neither be read nor put aside, and reads the others", async () => {
  const stateDir = await folderWith({ "a:eth0.del": Buffer.from("no"), "b:eth0.del": sealed(frame("x"), frame("y")) });
  // Something is where the quarantine folder should be.
  await writeFile(join(stateDir, "quarantine"), "");
  const problems: string[] = [];
  const records = await readOfflineFolder(stateDir, ["del"], (name) => problems.push(name));
  expect(records.map(({ name }) => name)).toEqual(["b:eth0.del"]);
  expect(problems).toEqual(["a:eth0.del"]);
});
