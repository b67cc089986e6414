import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { isSuccess, runProgram, type ProgramEnd, type ProgramRun } from "./run-program.ts";

function shell(script: string, extra: Partial<ProgramRun> = {}): Promise<ProgramEnd> {
  return runProgram(systemClock, {
    file: "sh",
    args: ["-c", script],
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: 5000,
    ...extra,
  });
}

describe("runProgram", () => {
  test("returns both streams and the status", async () => {
    const end = await shell("echo out; echo err >&2; exit 3");
    expect(end).toMatchObject({
      exitCode: 3,
      signal: undefined,
      stdout: "out\n",
      stderr: "err\n",
      startError: undefined,
      stopped: undefined,
    });
    expect(isSuccess(end)).toBe(false);
  });

  test("gives the input and only the environment it was told to", async () => {
    const end = await shell('cat; printf "%s" "$CNI_COMMAND:$HOME"', {
      input: "conf ",
      env: { PATH: "/usr/bin:/bin", CNI_COMMAND: "ADD" },
    });
    expect(end.stdout).toBe("conf ADD:");
    expect(isSuccess(end)).toBe(true);
  });

  test("does not fail because a program never reads its input", async () => {
    expect((await shell("exit 0", { input: "x".repeat(1_000_000) })).exitCode).toBe(0);
  });

  test("tells a program that is missing from one that may not or cannot be run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "levee-run-"));
    const notAllowed = join(folder, "not-allowed");
    const noProgram = join(folder, "no-program");
    writeFileSync(notAllowed, "", { mode: 0o644 });
    writeFileSync(noProgram, "\u0000\u0001", { mode: 0o755 });
    const base = { args: [], env: {}, timeoutMs: 1000 };
    expect((await runProgram(systemClock, { ...base, file: "/nowhere/levee-shim" })).startError).toBe("ENOENT");
    expect((await runProgram(systemClock, { ...base, file: notAllowed })).startError).toBe("EACCES");
    expect((await runProgram(systemClock, { ...base, file: noProgram })).startError).toBe("ENOEXEC");
    rmSync(folder, { recursive: true });
  });

  test("reports the signal that ended it", async () => {
    expect(await shell("kill -9 $$")).toMatchObject({ exitCode: undefined, signal: "SIGKILL" });
  });

  test("stops it at its time limit, and a status of 0 is no success then", async () => {
    const end = await shell("trap 'exit 0' TERM; sleep 5 & wait", { timeoutMs: 50 });
    expect(end).toMatchObject({ stopped: "timeout", exitCode: 0 });
    expect(isSuccess(end)).toBe(false);
  });

  test("stops it when the person interrupts, before or while it runs", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30);
    expect((await shell("exec sleep 5", { signal: controller.signal })).stopped).toBe("interrupted");
    expect((await shell("exec sleep 5", { signal: AbortSignal.abort() })).stopped).toBe("interrupted");
  });

  test("keeps the end of a flood on stderr and 1 MiB of stdout", async () => {
    const end = await shell(
      "head -c 2000000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero | tr '\\0' y >&2; echo last >&2",
    );
    expect(end.stdout.length).toBe(1_048_576);
    expect(end.stderr.length).toBe(16_384);
    expect(end.stderr).toEndWith("ylast\n");
  });

  test("does not wait for a grandchild that keeps the pipes open", async () => {
    const startMs = performance.now();
    const end = await shell("sleep 4 & echo done");
    expect(end).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(performance.now() - startMs).toBeLessThan(3000);
  });
});
