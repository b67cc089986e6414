import { expect, test } from "bun:test";
import { watch } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sweepWorkFolder, writeConf } from "./write-conf.ts";

test("writeConf renames inside the watched folder, as containerd ignores a rename from elsewhere", async () => {
  await using place = await folder();
  const seen = new Set<string>();
  const watcher = watch(place.path, (_event, name) => void seen.add(name ?? ""));
  await writeConf(place.path, "00-levee.conf", "{}");
  while (!seen.has("00-levee.conf")) await new Promise((resolve) => setTimeout(resolve, 5));
  watcher.close();
  expect(seen).toContain("00-levee.conf.arriving");
  expect(await readFile(join(place.path, "00-levee.conf"), "utf8")).toBe("{}");
  expect((await readdir(place.path)).toSorted()).toEqual([".levee", "00-levee.conf"]);
});

test("writeConf leaves nothing behind when a folder is in the conf's place", async () => {
  await using place = await folder();
  await mkdir(join(place.path, "00-levee.conf/x"), { recursive: true });
  expect(await writeConf(place.path, "00-levee.conf", "{}").catch(() => "failed")).toBe("failed");
  expect((await readdir(place.path)).toSorted()).toEqual([".levee", "00-levee.conf"]);
});

test("sweepWorkFolder removes the half-written conf of a killed daemon", async () => {
  await using place = await folder();
  await writeFile(join(place.path, "00-levee.conf.arriving"), "{");
  await sweepWorkFolder(place.path);
  expect(await readdir(place.path)).toEqual([]);
});

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "levee-conf-write-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
