import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import { holdStateFolder } from "./one-writer.ts";
import { aFolder } from "./journal/record.fixture.ts";
import { until } from "../base/until.fixture.ts";

const never = new AbortController().signal;
/** Polls without waiting, so that the test does not. */
let slept = 0;
const clock = {
  ...systemClock,
  random: () => 0,
  sleep: (_ms: number, signal?: AbortSignal) => {
    slept += 1;
    return systemClock.sleep(5, signal);
  },
};

describe("holdStateFolder", () => {
  test("a second holder waits, calls onWaiting once, and gets the folder when the first releases it", async () => {
    const folder = await aFolder();
    const first = await holdStateFolder(folder, { clock, signal: never });
    const events: string[] = [];
    const second = holdStateFolder(folder, { clock, signal: never, onWaiting: () => events.push("waiting") });
    const sleptBefore = slept;
    await until("it has tried several times", () => slept > sleptBefore + 3);
    expect(events).toEqual(["waiting"]);
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect(events).toEqual(["waiting"]);
  });

  test("two paths to one folder are one lock, two folders are two", async () => {
    const folder = await aFolder();
    const link = join(await aFolder(), "link");
    await symlink(folder, link);
    using _held = await holdStateFolder(folder, { clock, signal: never });
    using _other = await holdStateFolder(await aFolder(), { clock, signal: never });
    const gaveUp = new AbortController();
    const waiting = holdStateFolder(link, {
      clock,
      signal: gaveUp.signal,
      onWaiting: () => gaveUp.abort(new Error("gave up")),
    });
    expect(waiting).rejects.toThrow("gave up");
    await waiting.catch(() => undefined);
  });

  test("a folder that is removed and made again is still held, also by a path that leads there later", async () => {
    const folder = await aFolder();
    const held = await holdStateFolder(folder, { clock, signal: never });
    await rm(folder, { recursive: true });
    const events: string[] = [];
    const second = holdStateFolder(folder, { clock, signal: never, onWaiting: () => events.push("waiting") });
    await until("it waits", () => events.length > 0);
    // Made again once more while it waits: it must hold the folder that is there in the end.
    await rm(folder, { recursive: true });
    held[Symbol.dispose]();
    using _second = await second;
    const link = join(await aFolder(), "link");
    await symlink(folder, link);
    const gaveUp = new AbortController();
    const third = holdStateFolder(link, {
      clock,
      signal: gaveUp.signal,
      onWaiting: () => gaveUp.abort(new Error("no")),
    });
    expect(await third.catch(String)).toBe("Error: no");
  });

  test("polls between 0.2 and 1 s", async () => {
    const folder = await aFolder();
    const waits: number[] = [];
    const gaveUp = new AbortController();
    const measuring = {
      ...clock,
      random: () => (waits.length === 0 ? 0 : 0.999),
      sleep: (ms: number, signal?: AbortSignal) => {
        waits.push(ms);
        if (waits.length === 2) gaveUp.abort(new Error("seen enough"));
        return clock.sleep(ms, signal);
      },
    };
    using _held = await holdStateFolder(folder, { clock, signal: never });
    await holdStateFolder(folder, { clock: measuring, signal: gaveUp.signal }).catch(() => undefined);
    expect(waits[0]).toBe(200);
    expect(waits[1]).toBeCloseTo(999.2);
  });

  test("a killed holder leaves nothing behind", async () => {
    const folder = await aFolder();
    const program = `
      import { systemClock } from "${join(import.meta.dirname, "../base/clock.ts")}";
      import { holdStateFolder } from "${join(import.meta.dirname, "one-writer.ts")}";
      await holdStateFolder(${JSON.stringify(folder)}, { clock: systemClock, signal: new AbortController().signal });
      console.log("held");
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    let waited = 0;
    const mine = holdStateFolder(folder, { clock, signal: never, onWaiting: () => (waited += 1) });
    await until("it waits", () => waited === 1);
    child.kill("SIGKILL");
    (await mine)[Symbol.dispose]();
    expect(waited).toBe(1);
  });

  test("a folder that cannot be made is an error that names it", async () => {
    const file = join(await aFolder(), "file");
    await writeFile(file, "");
    const held = holdStateFolder(join(file, "state"), { clock, signal: never });
    expect(held).rejects.toMatchObject({ code: "state-unwritable" });
    expect(held).rejects.toThrow(join(file, "state"));
    await held.catch(() => undefined);
  });
});
