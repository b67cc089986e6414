import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { runGit, type GitEnd, type GitRun } from "./run-git.ts";

function shell(script: string, more: Partial<GitRun> = {}): Promise<GitEnd> {
  const run = { program: "sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" }, timeoutMs: 5_000 };
  return runGit(systemClock, { ...run, ...more });
}

/** A long-lived child of the program that writes its process ID. */
async function grandchild(run: (script: string) => Promise<GitEnd>): Promise<{ end: GitEnd; lives: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "levee-run-git-"));
  try {
    const end = await run(`sleep 60 & echo $! > ${folder}/pid; wait`);
    const pid = readFileSync(join(folder, "pid"), "utf8").trim();
    // A killed process is not gone at once.
    for (let look = 0; look < 50 && isAlive(pid); look += 1) await systemClock.sleep(20);
    return { end, lives: isAlive(pid) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isAlive(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
}

test("runGit returns output and exit code, and passes only the given environment", async () => {
  const end = await shell('cat; printf "%s" "$HOME$A"; echo err >&2; exit 3', {
    input: "in ",
    env: { PATH: "/usr/bin:/bin", A: "a" },
  });
  expect(end).toMatchObject({ exitCode: 3, stderr: "err\n" });
  expect(end.stdout.toString()).toBe("in a");
});

test("runGit kills the whole group at the time limit, on an abort and when the watch says so", async () => {
  const late = await grandchild((script) => shell(script, { timeoutMs: 200 }));
  expect(late).toMatchObject({ end: { stopped: "it took longer than 0.2 s" }, lives: false });
  const controller = new AbortController();
  systemClock.after(200, () => controller.abort());
  const aborted = await grandchild((script) => shell(script, { signal: controller.signal }));
  expect(aborted).toMatchObject({ end: { stopped: "interrupted" }, lives: false });
  const watched = await grandchild((script) => shell(script, { watch: () => "too much" }));
  expect(watched).toMatchObject({ end: { stopped: "too much" }, lives: false });
});

test("runGit kills children that keep the pipes open after the program ended", async () => {
  const { end, lives } = await grandchild((script) => shell(script.replace("; wait", "; exit 0")));
  expect(end.exitCode).toBe(0);
  expect(lives).toBe(false);
});

test("runGit ends a program that writes too much, and keeps the end of its error output", async () => {
  const end = await shell("head -c 5000 /dev/zero; sleep 60", { stdoutBytesMax: 4_000 });
  expect(end).toMatchObject({ exitCode: undefined, stopped: "it wrote more than 4000 bytes" });
  const loud = await shell("head -c 100000 /dev/zero | tr '\\0' y >&2; echo last >&2");
  expect(loud.stderr.length).toBe(4_096);
  expect(loud.stderr).toEndWith("ylast\n");
});

test("runGit says why a program could not be started, and starts none after an abort", async () => {
  expect((await shell("", { program: "/nowhere/git" })).startError).toBe("ENOENT");
  expect((await shell("", { program: "/etc/passwd" })).startError).toBe("EACCES");
  expect((await shell("echo", { signal: AbortSignal.abort() })).stopped).toBe("interrupted");
});
