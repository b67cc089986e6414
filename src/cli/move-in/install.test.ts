import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";

const mark = "levee-shim: the hands of Levee";
let root: string;
let dest: string;
const mounted: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "levee-install-"));
  dest = join(root, "bin");
  mkdirSync(dest);
  program(join(root, "levee-shim"), "levee-shim 1.2.3");
});

afterEach(() => {
  for (const folder of mounted.splice(0)) spawnSync("umount", [folder]);
  rmSync(root, { recursive: true, force: true });
});

/** A script that says it is a shim; `more` makes it another one, or a large one. */
function program(path: string, says: string, more = ""): void {
  writeFileSync(
    path,
    `#!/bin/sh\n# ${mark}\n[ "$1" = --version ] && echo '${says}'\n[ "$1" = wait ] && sleep 30\nexit 0\n${more}`,
  );
  chmodSync(path, 0o755);
}

async function install(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  const argv = ["install", "--dest", dest, ...args];
  const shell = fakeShell({ argv, self: [join(root, "levee")] });
  const status = await runCli(shell);
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

function names(): readonly string[] {
  return readdirSync(dest).toSorted();
}

/** A small file system of its own, gone with the test; false where mounting is not allowed. */
function mount(options: string): boolean {
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "levee-test", dest]);
  if (status === 0) mounted.push(dest);
  return status === 0;
}

describe("levee install", () => {
  test("copies the shim beside the program, executable for all, and passthru with it", async () => {
    const before = process.umask(0o077);
    const { status, out, err } = await install().finally(() => process.umask(before));
    expect({ status, err }).toEqual({ status: 0, err: "" });
    const file = join(dest, "levee-shim");
    expect(out).toStartWith(`levee-shim 1.2.3 is installed: ${file}, ${statSync(file).size} bytes\n`);
    expect(out).toContain(`passthru is installed: ${join(dest, "passthru")}\n`);
    expect(readFileSync(file)).toEqual(readFileSync(join(root, "levee-shim")));
    expect(statSync(file).mode & 0o777).toBe(0o755);
    expect(statSync(join(dest, "passthru")).ino).toBe(statSync(file).ino);
    expect(names()).toEqual(["levee-shim", "passthru"]);
  });

  test("says that it is installed already, and changes nothing", async () => {
    await install();
    const before = names().map((name) => statSync(join(dest, name), { bigint: true }));
    const { status, out } = await install();
    expect(status).toBe(0);
    expect(out).toMatch(/^levee-shim 1\.2\.3 is already installed: .*\npassthru is already installed: /u);
    const after = names().map((name) => statSync(join(dest, name), { bigint: true }));
    expect(after.map(({ ino, mtimeNs }) => [ino, mtimeNs])).toEqual(before.map(({ ino, mtimeNs }) => [ino, mtimeNs]));
  });

  test("replaces an old one that is running, and that one goes on", async () => {
    program(join(dest, "levee-shim"), "levee-shim 1.0.0", "# old\n");
    linkSync(join(dest, "levee-shim"), join(dest, "passthru"));
    const old = spawn(join(dest, "levee-shim"), ["wait"], { stdio: "ignore", detached: true });
    try {
      expect(await install()).toMatchObject({ status: 0, err: "" });
      expect(old.exitCode).toBeNull();
      for (const name of ["levee-shim", "passthru"])
        expect(readFileSync(join(dest, name))).toEqual(readFileSync(join(root, "levee-shim")));
      expect(names()).toEqual(["levee-shim", "passthru"]);
    } finally {
      process.kill(-(old.pid ?? 0), "SIGKILL");
    }
  });

  test("makes a shim that was copied by hand executable", async () => {
    writeFileSync(join(dest, "levee-shim"), readFileSync(join(root, "levee-shim")), { mode: 0o644 });
    expect((await install()).out).toStartWith("levee-shim 1.2.3 is installed");
    expect(statSync(join(dest, "levee-shim")).mode & 0o777).toBe(0o755);
  });

  test.each([
    ["a program", (file: string) => writeFileSync(file, "#!/bin/sh\n# multus\n")],
    ["a folder", (file: string) => mkdirSync(file)],
    ["a link that leads nowhere", (file: string) => symlinkSync("/nowhere", file)],
  ])("leaves a passthru that is not ours as it is: %s", async (_, put) => {
    put(join(dest, "passthru"));
    const { status, out } = await install();
    expect(status).toBe(0);
    expect(out).toContain(`passthru is left alone, because another program has that name: ${dest}/passthru\n`);
    expect(names()).toEqual(["levee-shim", "passthru"]);
  });

  test("prints facts for programs", async () => {
    const { out } = await install("-o", "json", "--source", join(root, "levee-shim"));
    expect(JSON.parse(out)).toEqual({
      shim: {
        file: join(dest, "levee-shim"),
        isNew: true,
        bytes: statSync(join(root, "levee-shim")).size,
        sha256: spawnSync("sha256sum", [join(root, "levee-shim")], { encoding: "utf8" }).stdout.slice(0, 64),
        software: "levee-shim 1.2.3",
      },
      passthru: { file: join(dest, "passthru"), state: "installed" },
    });
  });

  test("removes what a killed install left long ago, and not what another one is writing", async () => {
    for (const name of [".levee-install-00ff", ".levee-install-00ff.tmp", ".levee-install-11", ".other"])
      writeFileSync(join(dest, name), "");
    for (const name of [".levee-install-00ff", ".levee-install-00ff.tmp"]) utimesSync(join(dest, name), 1, 1);
    await install();
    expect(names()).toEqual([".levee-install-11", ".other", "levee-shim", "passthru"]);
  });
});

describe("levee install fails with a clear error and leaves nothing behind", () => {
  test("a folder that is missing, and a file in its place", async () => {
    rmSync(dest, { recursive: true });
    const { status, err } = await install();
    expect(status).toBe(1);
    expect(err).toBe(
      `Error: Cannot install levee-shim in ${dest}: there is no such folder (ENOENT)\n  try: mount the host's plugin folder there, or --dest with an existing folder\n`,
    );
    writeFileSync(dest, "");
    expect((await install()).err).toContain("it is not a folder (ENOTDIR)");
  });

  test("a folder in the place of the shim", async () => {
    mkdirSync(join(dest, "levee-shim"));
    expect(await install()).toMatchObject({
      status: 1,
      err: expect.stringContaining("a folder already has that name"),
    });
    expect(names()).toEqual(["levee-shim"]);
  });

  test("a full disk: the old shim stays and works", async () => {
    if (!mount("size=512k")) return;
    program(join(dest, "levee-shim"), "levee-shim 1.0.0");
    program(join(root, "levee-shim"), "levee-shim 1.2.3", "#".repeat(1_000_000));
    const { status, err } = await install();
    expect({ status, err }).toMatchObject({ status: 1, err: expect.stringContaining("the disk is full (ENOSPC)") });
    expect(names()).toEqual(["levee-shim"]);
    const { stdout } = spawnSync(join(dest, "levee-shim"), ["--version"], { encoding: "utf8" });
    expect(stdout).toBe("levee-shim 1.0.0\n");
  });

  test("a folder that is read-only", async () => {
    if (!mount("size=512k,ro")) return;
    expect(await install()).toMatchObject({ status: 1, err: expect.stringContaining("it is read-only (EROFS)") });
    expect(names()).toEqual([]);
  });

  test("a shim that does not run here: not installed; one that may not be executed here: installed and said", async () => {
    program(join(root, "levee-shim"), "something else");
    expect(await install()).toMatchObject({
      status: 1,
      err: expect.stringContaining("it does not run on this machine"),
    });
    writeFileSync(join(root, "levee-shim"), `\x7fELF nonsense ${mark}`);
    expect(await install()).toMatchObject({ status: 1, err: expect.stringContaining("(shim-broken)") });
    expect(names()).toEqual([]);
    program(join(root, "levee-shim"), "levee-shim 1.2.3");
    if (!mount("size=512k,noexec")) return;
    const { status, out } = await install();
    expect(status).toBe(0);
    expect(out).toContain("It was not tried out, because files in that folder cannot be executed here");
  });

  test("a source that is missing, or no shim", async () => {
    expect(await install("--source", join(root, "none"))).toMatchObject({
      status: 1,
      err: expect.stringContaining("there is no such file (source-unusable)\n  try: --source FILE"),
    });
    writeFileSync(join(root, "other"), "#!/bin/sh\n");
    expect((await install("--source", join(root, "other"))).err).toContain("it is not levee-shim");
    expect(names()).toEqual([]);
  });

  test("without --dest", async () => {
    const shell = fakeShell({ argv: ["install"] });
    expect(await runCli(shell)).toBe(2);
    expect(shell.stderr.text).toContain("--dest <folder>");
  });
});

const real = join(import.meta.dir, "../../../dist/levee-shim");

test.skipIf(!existsSync(real))("levee install: the real shim is one, and runs under both names", async () => {
  expect(await install("--source", real)).toMatchObject({ status: 0, err: "" });
  const env = { CNI_COMMAND: "VERSION" };
  const answer = (name: string): string => spawnSync(join(dest, name), [], { env, encoding: "utf8" }).stdout;
  expect(JSON.parse(answer("levee-shim"))).toMatchObject({ supportedVersions: expect.arrayContaining(["0.1.0"]) });
  expect(answer("passthru")).not.toContain("0.1.0");
});
