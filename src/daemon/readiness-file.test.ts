import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { awaitReadinessFile, type ReadinessWait } from "./readiness-file.ts";

function wait(path: string, limitMs: number, signal = new AbortController().signal): ReadinessWait {
  return { path, endsMs: systemClock.monotonicMs() + limitMs, signal };
}

test("awaitReadinessFile does not wait without a file, and not for one that is there", async () => {
  await awaitReadinessFile(wait("", 0), systemClock);
  await awaitReadinessFile(wait("/proc/self/stat", 0), systemClock);
});

test("awaitReadinessFile goes on when the file appears", async () => {
  const folder = await mkdtemp(join(tmpdir(), "levee-readiness-"));
  try {
    const path = join(folder, "ready");
    const clock = { ...systemClock, sleep: () => writeFile(path, "") };
    await awaitReadinessFile(wait(path, 60_000), clock);
    await rm(path);
    await expect(awaitReadinessFile(wait(path, 20), systemClock)).rejects.toThrow(
      `have you checked that your default network is ready? still waiting for readinessindicatorfile @ ${path}: there is no such file (ENOENT)`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("awaitReadinessFile fails with code 11, and at once when the call is gone", async () => {
  await expect(awaitReadinessFile(wait("/nowhere/ready", 0), systemClock)).rejects.toMatchObject({ cniCode: 11 });
  const gone = new AbortController();
  const waiting = awaitReadinessFile(wait("/nowhere/ready", 60_000, gone.signal), systemClock);
  gone.abort(new Error("the runtime went away"));
  await expect(waiting).rejects.toThrow("the runtime went away");
});

test("awaitReadinessFile names a file it may not look at", async () => {
  const path = `/${"x".repeat(300)}`;
  await expect(awaitReadinessFile(wait(path, 0), systemClock)).rejects.toThrow("cannot look there (ENAMETOOLONG)");
});
