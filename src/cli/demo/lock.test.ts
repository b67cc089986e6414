import { describe, expect, test } from "bun:test";
import { failureOf } from "../failure-of.fixture.ts";
import { takeLock } from "./lock.ts";

const name = `levee-lock-test-${process.pid}`;

describe("takeLock", () => {
  test("lets one in, tells the second why not, and the next in afterwards", async () => {
    const first = await takeLock(name);
    expect(await failureOf(takeLock(name))).toMatchObject({
      code: "already-running",
      remedy: expect.stringContaining("Ctrl-C"),
    });
    await first[Symbol.asyncDispose]();
    await (await takeLock(name))[Symbol.asyncDispose]();
  });

  test("is free again when its holder is killed", async () => {
    const script = `require("node:net").createServer().listen("\\0${name}", () => { process.stdout.write("held"); });`;
    const holder = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    await holder.stdout.getReader().read();
    expect(await failureOf(takeLock(name))).toMatchObject({ code: "already-running" });
    holder.kill("SIGKILL");
    await holder.exited;
    await (await takeLock(name))[Symbol.asyncDispose]();
  });
});
