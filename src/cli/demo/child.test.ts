import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { failureOf } from "../failure-of.fixture.ts";
import { Child } from "./child.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-child-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(script: string): Promise<Child> {
  return Child.start({
    name: "daemon",
    command: ["sh", "-c", script],
    env: { PATH: "/usr/bin:/bin", ONLY: "this" },
    log: join(folder, "log"),
  });
}

describe("Child", () => {
  test("runs in a session of its own, where Ctrl-C of our terminal does not reach it", async () => {
    const child = await start("exec sleep 30");
    const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
    const session = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3];
    expect(session).toBe(String(child.pid));
    await child.stop(systemClock);
  });

  test("stop asks with SIGTERM and waits for the end", async () => {
    const child = await start("trap 'echo bye; exit 0' TERM; echo ready; sleep 30 & wait");
    while (!(await child.lastWords()).includes("ready")) await Bun.sleep(10);
    await child.stop(systemClock);
    expect(await child.lastWords()).toBe("ready\nbye");
    await child.stop(systemClock);
  });

  test("stop kills what does not listen", async () => {
    const child = await start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
    while (!(await child.lastWords()).includes("ready")) await Bun.sleep(10);
    const impatient = { ...systemClock, after: (_ms: number, callback: () => void) => systemClock.after(50, callback) };
    await child.stop(impatient);
    expect(existsSync(`/proc/${child.pid}`)).toBe(false);
  });

  test("failure tells how it ended and the last lines of its log", async () => {
    const child = await start("for i in $(seq 1 40); do echo line $i; done; echo cannot go on >&2; exit 3");
    const failure = await failureOf(child.failure());
    expect(failure).toMatchObject({
      code: "child-ended",
      message: "The daemon ended unexpectedly with status 3, the end of its log:",
    });
    const lines = (failure as Error & { details: string }).details.split("\n");
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe("cannot go on");
  });

  test("failure keeps quiet when the end was asked for", async () => {
    const child = await start("exec sleep 30");
    const failed = child.failure().then(
      () => "settled",
      () => "settled",
    );
    await child.stop(systemClock);
    expect(await Promise.race([failed, Bun.sleep(50).then(() => "quiet")])).toBe("quiet");
  });

  test("failure of a silent one says that it said nothing", async () => {
    const child = await start("exit 1");
    expect(await failureOf(child.failure())).toMatchObject({
      message: "The daemon ended unexpectedly with status 1 and logged nothing",
    });
  });

  test("start fails when the program does not exist", async () => {
    const spec = { name: "daemon", command: ["/nowhere/levee"] as const, env: {}, log: join(folder, "log") };
    expect(await failureOf(Child.start(spec))).toMatchObject({
      code: "start-failed",
      message: expect.stringContaining("/nowhere/levee"),
    });
  });
});
