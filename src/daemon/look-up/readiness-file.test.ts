import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { awaitReadinessFile, type ReadinessWait } from "./readiness-file.ts";

function wait(path: string, limitMs: number, signal = new AbortController().signal): ReadinessWait {
  return { path, endsMs: systemClock.monotonicMs() + limitMs, caller: { signal } };
}

function failureOf(waiting: ReadinessWait): Promise<LeveeError> {
  return awaitReadinessFile(waiting, systemClock).then(
    () => new LeveeError("internal", "it did not fail"),
    (thrown: unknown) => toLeveeError(thrown, "Waiting"),
  );
}

test("awaitReadinessFile does not wait when no file is set, or when the file is there", async () => {
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
    expect((await failureOf(wait(path, 20))).message).toBe(
      `have you checked that your default network is ready? still waiting for readinessindicatorfile @ ${path}: there is no such file (ENOENT)`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("awaitReadinessFile fails with code 11, and at once when the call is gone", async () => {
  expect((await failureOf(wait("/nowhere/ready", 0))).cniCode).toBe(11);
  const gone = new AbortController();
  const waiting = failureOf(wait("/nowhere/ready", 60_000, gone.signal));
  gone.abort(new LeveeError("cancelled", "the runtime went away"));
  expect((await waiting).message).toBe("the runtime went away");
});

test("awaitReadinessFile names a file that it cannot look at", async () => {
  const path = `/${"x".repeat(300)}`;
  expect((await failureOf(wait(path, 0))).message).toContain("cannot look there (ENAMETOOLONG)");
});
