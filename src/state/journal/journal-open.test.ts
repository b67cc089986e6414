import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { aFolder, openIn } from "./record.fixture.ts";

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
