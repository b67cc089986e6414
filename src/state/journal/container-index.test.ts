import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContainerId } from "../../base/brand.ts";
import { ContainerIndex, loadIndex } from "./container-index.ts";
import { openSystemLog, type OpenLog } from "../files/log-file.ts";

const [gone, stays] = ["gone" as ContainerId, "stays" as ContainerId];

test("drop on a full disk is repaired by the next line: no file lists a removed container", async () => {
  const folder = await mkdtemp(join(tmpdir(), "levee-index-"));
  try {
    const path = join(folder, "containers.idx");
    let isFull = false;
    const openLog: OpenLog = async (file) => {
      const handle = await openSystemLog(file);
      const write: typeof handle.write = (bytes, position) =>
        isFull ? Promise.reject(new Error("ENOSPC: no space left on device")) : handle.write(bytes, position);
      return { ...bound(handle), write };
    };
    const index = new ContainerIndex(path, await loadIndex(path), openLog);
    await index.add([gone]);
    isFull = true;
    expect(await index.drop([gone]).catch((thrown: unknown) => thrown)).toBeInstanceOf(Error);
    isFull = false;
    expect([...(await loadIndex(path)).ids]).toEqual([gone]);
    await index.add([stays]);
    await index.close();
    expect([...(await loadIndex(path)).ids]).toEqual([stays]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Its methods, as an object that one of them can be replaced in. */
function bound(handle: Awaited<ReturnType<OpenLog>>): Awaited<ReturnType<OpenLog>> {
  return {
    write: (bytes, position) => handle.write(bytes, position),
    makeRoom: (position, length) => handle.makeRoom(position, length),
    datasync: () => handle.datasync(),
    truncate: (length) => handle.truncate(length),
    touch: () => handle.touch(),
    inode: handle.inode,
    close: () => handle.close(),
  };
}
