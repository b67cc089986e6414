import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Installs as npm does: writes the list of installed packages at the end. */
const goodNpm = `
const { appendFileSync, copyFileSync, mkdirSync } = require("node:fs");
appendFileSync("npm-calls", process.argv.slice(2).join(" ") + "\\n");
mkdirSync("node_modules", { recursive: true });
copyFileSync("package-lock.json", "node_modules/.package-lock.json");
console.log("added 1 package");
`;
const badNpm = `console.error("no network"); process.exit(7);`;

interface Package {
  readonly version: string;
  readonly optional?: boolean;
}

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "levee-packages-"));
  mkdirSync(join(root, "scripts"));
  copyFileSync(join(import.meta.dir, "with-packages.mjs"), join(root, "scripts/with-packages.mjs"));
  writeFileSync(join(root, "npm-cli.js"), goodNpm);
  lock("package-lock.json", { "node_modules/yaml": { version: "2.0.0" } });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("with-packages installs", () => {
  test("when there are no packages, and then runs the program", async () => {
    const { code, stdout, stderr } = await outcome(start("sh", "-c", "echo ran $0", "it"));
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ran it\n" });
    expect(stderr).toContain("Installing the packages: npm ci");
    expect(npmCalls()).toEqual(["ci --include=dev --no-audit --no-fund"]);
  });

  test("when package-lock.json wants another version, or one more package", async () => {
    installed({ "node_modules/yaml": { version: "1.0.0" } });
    await outcome(start("true"));
    expect(npmCalls()).toHaveLength(1);
    lock("package-lock.json", { "node_modules/yaml": { version: "2.0.0" }, "node_modules/b": { version: "1.0.0" } });
    await outcome(start("true"));
    expect(npmCalls()).toHaveLength(2);
  });

  test("when the list of the last installation is damaged", async () => {
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "node_modules/.package-lock.json"), '{ "packages"');
    await outcome(start("true"));
    expect(npmCalls()).toHaveLength(1);
  });

  test("nothing when the packages are there, without optional ones of another platform", async () => {
    lock("package-lock.json", {
      "": { version: "0.1.0" },
      "node_modules/yaml": { version: "2.0.0" },
      "node_modules/other-platform": { version: "1.0.0", optional: true },
    });
    installed({ "node_modules/yaml": { version: "2.0.0" } });
    expect(await outcome(start("true"))).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    expect(npmCalls()).toEqual([]);
  });

  test("and when npm fails, says so and does not run the program", async () => {
    writeFileSync(join(root, "npm-cli.js"), badNpm);
    const { code, stdout, stderr } = await outcome(start("echo", "ran"));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("no network\nCannot install the packages: npm ended with 7; run npm ci to see more\n");
  });
});

describe("with-packages runs the program", () => {
  beforeEach(() => installed({ "node_modules/yaml": { version: "2.0.0" } }));

  test("from the packages first, with its status", async () => {
    mkdirSync(join(root, "node_modules/.bin"));
    writeFileSync(join(root, "node_modules/.bin/true"), "#!/bin/sh\nexit 42\n", { mode: 0o755 });
    expect(await outcome(start("true"))).toMatchObject({ code: 42, signal: null });
  });

  test("and says when it cannot start it, or was not told which one", async () => {
    const missing = await outcome(start("no-such-program"));
    expect(missing.code).toBe(127);
    expect(missing.stderr).toContain("Cannot start no-such-program");
    expect(await outcome(start())).toMatchObject({ code: 2 });
  });

  test("and ends by the signal that ended it", async () => {
    expect(await outcome(start("sh", "-c", "kill -KILL $$"))).toMatchObject({ code: null, signal: "SIGKILL" });
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("and hands %s on to it", async (signal) => {
    const child = start(
      "sh",
      "-c",
      `trap 'echo cleaned up; exit 3' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`,
    );
    const ended = outcome(child);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 3, stdout: "ready\ncleaned up\n" });
  });
});

function lock(file: string, packages: Readonly<Record<string, Package>>): void {
  writeFileSync(join(root, file), JSON.stringify({ packages }));
}

function installed(packages: Readonly<Record<string, Package>>): void {
  mkdirSync(join(root, "node_modules"), { recursive: true });
  lock("node_modules/.package-lock.json", packages);
}

function npmCalls(): readonly string[] {
  const file = join(root, "npm-calls");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

function start(...args: readonly string[]): ChildProcess {
  return spawn("node", [join(root, "scripts/with-packages.mjs"), ...args], {
    env: { PATH: process.env["PATH"] ?? "", npm_execpath: join(root, "npm-cli.js") },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function outcome(
  child: ChildProcess,
): Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, stdout, stderr };
}
