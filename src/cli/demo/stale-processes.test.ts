import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeShell } from "../fake-shell.fixture.ts";
import { testSite } from "./site.fixture.ts";
import { sitePaths } from "./site.ts";
import { endStale, isOfSite, staleProcesses } from "./stale-processes.ts";

let site: ReturnType<typeof testSite>;
beforeEach(() => {
  site = testSite();
});
afterEach(() => site.remove());

describe("isOfSite", () => {
  test("knows the site's daemon and hand by the paths they were started with", () => {
    expect(isOfSite(["/x/levee", "daemon", "--config", sitePaths(site).config, ""], site)).toBe(true);
    expect(isOfSite(["/x/levee-shim", "--resident", "--socket-dir", site.runDir, ""], site)).toBe(true);
  });

  test.each([
    [["/x/levee", "daemon", "--config", "/etc/levee/daemon-config.json"]],
    [["/x/levee-shim", "--resident", "--socket-dir", "/run/levee"]],
    [["vi", "/nowhere/daemon-config.json"]],
    [["/x/levee", "demo"]],
    [[""]],
  ])("leaves %j alone", (args) => {
    expect(isOfSite(args, site)).toBe(false);
  });

  test("does not take an editor with the site's file open for its daemon", () => {
    expect(isOfSite(["vi", sitePaths(site).config], site)).toBe(false);
  });
});

describe("staleProcesses", () => {
  test("reads command lines, and passes over what has ended or is no process", async () => {
    const proc = join(site.runDir, "..", "proc");
    for (const name of ["1", "22", "333", "self"]) mkdirSync(join(proc, name), { recursive: true });
    writeFileSync(join(proc, "1", "cmdline"), "init\0");
    writeFileSync(join(proc, "22", "cmdline"), `levee\0daemon\0--config\0${sitePaths(site).config}\0`);
    writeFileSync(join(proc, "self", "cmdline"), `levee\0daemon\0--config\0${sitePaths(site).config}\0`);
    expect(await staleProcesses(site, proc)).toEqual([22]);
  });
});

describe("endStale", () => {
  test("ends the site's processes and no others", async () => {
    // The words after the script become the process's command line, as the daemon's own would be.
    const script = "read line"; // Waits without a child, which until its exec would look the same.
    const stale = Bun.spawn(["sh", "-c", script, "daemon", "--config", sitePaths(site).config], { stdin: "pipe" });
    const other = Bun.spawn(["sh", "-c", script, "daemon", "--config", "/etc/other.json"], { stdin: "pipe" });
    try {
      expect(await staleProcesses(site)).toEqual([stale.pid]);
      expect(await endStale(fakeShell(), site)).toEqual([]);
      await stale.exited;
      expect(stale.signalCode).toBe("SIGTERM");
      expect(other.exitCode).toBeNull();
    } finally {
      stale.kill("SIGKILL");
      other.kill("SIGKILL");
    }
  });
});
