import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { ConfFileCache } from "./conf-file-cache.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder, and a cache whose clock is so far ahead that a new file counts as old. */
function site(aheadMs = 10_000): { readonly folder: string; readonly cache: ConfFileCache } {
  const folder = mkdtempSync(join(tmpdir(), "levee-conf-"));
  folders.push(folder);
  return { folder, cache: new ConfFileCache({ ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs }) };
}

const list = (type: string): string => JSON.stringify({ cniVersion: "1.0.0", name: "net", plugins: [{ type }] });

test("load reads a file once, and again when it is replaced or overwritten", async () => {
  const { folder, cache } = site();
  const path = join(folder, "10-net.conflist");
  writeFileSync(path, list("bridge"));
  const first = await cache.load(path);
  expect(await cache.load(path)).toBe(first);
  writeFileSync(`${path}.new`, list("macvlan"));
  renameSync(`${path}.new`, path);
  expect((await cache.load(path)).plugins[0]?.type as string).toBe("macvlan");
  writeFileSync(path, list("ipvlan0"));
  expect((await cache.load(path)).plugins[0]?.type as string).toBe("ipvlan0");
});

test("load reads a recently changed file each time", async () => {
  const { folder, cache } = site(0);
  const path = join(folder, "10-net.conf");
  writeFileSync(path, JSON.stringify({ cniVersion: "1.0.0", name: "net", type: "bridge" }));
  expect(await cache.load(path)).not.toBe(await cache.load(path));
});

test("load sees new plugins in a sub-folder, and reads a folder each time", async () => {
  const { folder, cache } = site();
  const path = join(folder, "10-net.conflist");
  writeFileSync(path, list("bridge"));
  await cache.load(path);
  mkdirSync(join(folder, "net"));
  writeFileSync(join(folder, "net", "20-more.conf"), JSON.stringify({ type: "tuning" }));
  expect((await cache.load(path)).plugins.map(({ type }) => String(type))).toEqual(["bridge", "tuning"]);
  writeFileSync(join(folder, "05-first.conf"), JSON.stringify({ cniVersion: "1.0.0", name: "first", type: "ptp" }));
  expect((await cache.load(folder)).name).toBe("first");
});

test("load fails for a file that was there before and is gone", async () => {
  const { folder, cache } = site();
  const path = join(folder, "10-net.conflist");
  writeFileSync(path, list("bridge"));
  await cache.load(path);
  rmSync(path);
  const thrown: unknown = await cache.load(path).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(LeveeError);
  expect(thrown).toMatchObject({ code: "config-invalid" });
});
