import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { openSystemLog, type OpenLog } from "../files/log-file.ts";
import { journalPath } from "./journal-open.ts";
import { aFolder, aRecord, openIn } from "./record.fixture.ts";

test.each([0o755, 0o777, 0o750])(
  "openJournal makes a folder private that another program created with mode %o",
  async (mode) => {
    const folder = join(await aFolder(), "state");
    await mkdir(folder);
    await chmod(folder, mode);
    const journal = await openIn(folder);
    await journal.close();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  },
);

test("openJournal syncs what the last daemon may have left in the page cache, and rewrites it when that fails", async () => {
  const folder = await aFolder();
  const last = await openIn(folder);
  await last.begin(aRecord(1));
  await last.close();

  const syncs = { count: 0, fail: true };
  const openLog: OpenLog = async (path) => {
    const handle = await openSystemLog(path);
    if (path !== journalPath(folder)) return handle;
    const datasync = async (): Promise<void> => {
      syncs.count += 1;
      if (syncs.fail) throw Object.assign(new Error("EIO"), { code: "EIO" });
      await handle.datasync();
    };
    return { ...handle, datasync };
  };
  const failing = await openIn(folder, { openLog });
  expect(syncs.count).toBe(1);
  const { ino } = await stat(journalPath(folder));
  await failing.probeWritable();
  expect((await stat(journalPath(folder))).ino).not.toBe(ino);
  await failing.close();

  syncs.fail = false;
  const next = await openIn(folder, { openLog });
  expect(syncs.count).toBe(2);
  expect(next.all()).toHaveLength(1);
  await next.close();
});
