import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfSite, primaryList } from "./conf-dir/conf-dir.fixture.ts";

test("ConfDir on a full disk keeps the whole old conf, warns, and writes when there is room", async () => {
  await using site = await ConfSite.make();
  using _mount = smallFolder(site);
  await site.put("10-a.conflist", primaryList());
  await site.start();
  const good = await site.text();
  await site.put("10-a.conflist", primaryList("k8s-pod-network", "calico"));
  await fillUp(site);
  await site.pass();
  expect(await site.text()).toBe(good);
  expect(site.facts).toMatchObject({ state: "in-force", writes: 1 });
  expect(site.facts.problems[0]?.message).toContain("its disk is full (ENOSPC)");
  expect(site.events).toEqual(["ConfUnwritable"]);
  expect(await readdir(site.path(".levee"))).toEqual([]);
  await rm(site.path("fill"));
  await site.pass();
  expect(await site.text()).not.toBe(good);
  expect(site.facts).toMatchObject({ state: "in-force", problems: [], writes: 2 });
});

test("ConfDir on a read-only file system warns, and writes when it can again", async () => {
  await using site = await ConfSite.make();
  using _mount = smallFolder(site);
  await site.put("10-a.conflist", primaryList());
  mount(["-o", "remount,ro", site.folder]);
  await site.start();
  expect(site.facts.state).toBe("failing");
  expect(site.facts.problems[0]?.message).toContain("it is read-only (EROFS)");
  mount(["-o", "remount,rw", site.folder]);
  await site.pass();
  expect(site.facts).toMatchObject({ state: "in-force", problems: [], writes: 1 });
});

test("ConfDir warns about a folder in the conf's place and goes on", async () => {
  await using site = await ConfSite.make();
  await site.put("10-a.conflist", primaryList());
  spawnSync("mkdir", ["-p", site.path("00-levee.conf/x")]);
  await site.start();
  expect(site.facts.state).toBe("failing");
  expect(site.problems).toEqual(["unwritable"]);
});

/** Puts the conf directory on a file system of its own, of 64 KiB. */
function smallFolder(site: ConfSite): Disposable {
  mount(["-t", "tmpfs", "-o", "size=64k", "levee-test", site.folder]);
  return { [Symbol.dispose]: () => void spawnSync("umount", ["-l", site.folder]) };
}

function mount(args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")} failed: ${stderr}`);
}

async function fillUp(site: ConfSite): Promise<void> {
  await writeFile(join(site.folder, "fill"), "x".repeat(65_536)).catch(() => undefined);
}
