import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeShell } from "./fake-shell.fixture.ts";
import { readSettings, socketPath } from "./settings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-settings-"));
  writeFileSync(join(folder, "levee-shim"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("readSettings", () => {
  test("has the defaults of a node", () => {
    const settings = readSettings({}, fakeShell());
    expect(settings).toMatchObject({
      output: "table",
      socketDir: "/run/levee",
      stateDir: "/var/lib/levee",
      directory: "/var/lib/levee/directory",
    });
    expect(socketPath(settings)).toBe("/run/levee/levee.sock");
  });

  test("takes variables over defaults and options over variables", () => {
    const env = {
      LEVEE_SOCKET_DIR: "/s",
      LEVEE_STATE_DIR: "/t",
      LEVEE_DIRECTORY: "/d",
      LEVEE_SHIM: "/bin/shim",
      LEVEE_CNI_PATH: "/p",
    };
    expect(readSettings({}, fakeShell({ env }))).toEqual({
      output: "table",
      socketDir: "/s",
      stateDir: "/t",
      directory: "/d",
      shim: "/bin/shim",
      cniPath: "/p",
    });
    const given = { socketDir: "/1", stateDir: "/2", directory: "/3", shim: "/4", cniPath: "/5", output: "json" };
    expect(readSettings(given, fakeShell({ env }))).toEqual({
      output: "json",
      socketDir: "/1",
      stateDir: "/2",
      directory: "/3",
      shim: "/4",
      cniPath: "/5",
    });
  });

  test("looks for the directory inside the state folder, so that one option moves both", () => {
    expect(readSettings({ stateDir: "/t" }, fakeShell()).directory).toBe("/t/directory");
  });

  test("takes an empty variable as not set", () => {
    expect(readSettings({}, fakeShell({ env: { LEVEE_STATE_DIR: "" } })).stateDir).toBe("/var/lib/levee");
  });

  test("finds the shim beside the program, then among the plugins", () => {
    expect(readSettings({}, fakeShell({ self: [join(folder, "levee")] })).shim).toBe(join(folder, "levee-shim"));
    expect(readSettings({ cniPath: `/none:${folder}` }, fakeShell()).shim).toBe(join(folder, "levee-shim"));
    expect(readSettings({ cniPath: "/none" }, fakeShell()).shim).toBe("/nowhere/levee-shim");
  });

  test.each(["csv", "", "JSON"])("refuses the output %j and names the choices", (output) => {
    expect(() => readSettings({ output }, fakeShell())).toThrow("table, wide, json, yaml");
  });

  test("refuses an empty --cni-path", () => {
    expect(() => readSettings({ cniPath: "" }, fakeShell())).toThrow("--cni-path is empty");
  });

  test("refuses relative folders and says how to write them", () => {
    expect(() => readSettings({ stateDir: "state" }, fakeShell())).toThrow(
      "--state-dir as it must be an absolute path",
    );
    expect(() => readSettings({}, fakeShell({ env: { LEVEE_SOCKET_DIR: "run" } }))).toThrow("absolute path");
  });
});
