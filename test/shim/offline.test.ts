import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import { bytesField, flagField, numberField, type Frame } from "../../src/wire/frame.ts";
import { encodeRun, readCall, readResume } from "../../src/wire/messages.ts";
import { eventually, isAlive, Sandbox } from "./sandbox.ts";
import { ScriptedDaemon, token } from "./scripted-daemon.ts";
import type { ShimProcess } from "./shim-process.ts";

let sandbox: Sandbox;

beforeEach(() => {
  sandbox = new Sandbox();
});

afterEach(() => sandbox.clean());

/** The frames of a record, after its checksum was found right. */
function record(name: string): readonly Frame[] {
  const bytes = readFileSync(sandbox.path(`state/offline/${name}`));
  const frames = bytes.subarray(0, -4);
  expect(bytes.readUInt32LE(frames.length)).toBe(crc32(frames));
  return new FrameReader().push(frames);
}

function records(): string[] {
  return existsSync(sandbox.path("state/offline")) ? readdirSync(sandbox.path("state/offline")) : [];
}

/** An ADD that has its result, and whose daemon goes away before it says BYE. */
async function finishedThenAway(settings: Parameters<Sandbox["call"]>[1] = {}): Promise<ShimProcess> {
  const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  const shim = sandbox.call("ADD", settings);
  const peer = await daemon.accept();
  await peer.begin();
  peer.order("FINISH", [
    ["exit_code", 0],
    ["output", "{}"],
  ]);
  await peer.expect("ACK");
  await daemon.kill();
  return shim;
}

const ackName = `${Buffer.from(token).toString("hex")}.ack`;

describe("a DEL that cannot be made", () => {
  test("because no daemon listens is kept on disk, with the configuration, and succeeds", async () => {
    const started = performance.now();
    const shim = sandbox.call("DEL", { delPatienceMs: 300 }, { CNI_NETNS: "" });
    const { code, stdout, stderr } = await shim.exited;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("the delete is kept in");
    expect(performance.now() - started).toBeGreaterThan(290);
    expect(performance.now() - started).toBeLessThan(1_500);
    const [call, config] = record("c1:eth0.del");
    expect(call?.type).toBe("CALL");
    expect(call && readCall(call)).toMatchObject({
      verb: "DEL",
      containerId: "c1",
      ifname: "eth0",
      netns: "",
      cniPath: sandbox.binDir,
    });
    expect(config && Buffer.from(bytesField(config, "config") ?? []).toString()).toBe(
      sandbox.conf({ delPatienceMs: 300 }),
    );
    expect(records()).toEqual(["c1:eth0.del"]);
    expect(statSync(sandbox.path("state/offline")).mode & 0o777).toBe(0o700);
    expect(statSync(sandbox.path("state/offline/c1:eth0.del")).mode & 0o777).toBe(0o600);
  });

  test("because the daemon refuses is kept, too", async () => {
    const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    const shim = sandbox.call("DEL");
    const peer = await daemon.accept();
    await peer.expect("CALL");
    peer.order("REFUSE", [
      ["code", "try-later"],
      ["message", "Cannot serve now"],
    ]);
    expect(await shim.exited).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("Cannot serve now"),
    });
    expect(records()).toEqual(["c1:eth0.del"]);
    await daemon.kill();
  });

  test("within its budget is kept, and the plugin that took too long is killed", async () => {
    const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    const shim = sandbox.call("DEL", { delBudgetMs: 700 });
    const peer = await daemon.accept();
    await peer.begin();
    peer.send(encodeRun(1, sandbox.run(sandbox.plugin("slow", 'echo $$ > "$DIR/pid"; sleep 30'))));
    const pid = await sandbox.pidIn("pid");
    expect(await shim.exited).toMatchObject({ code: 0, stdout: "" });
    expect(isAlive(pid)).toBe(false);
    expect(records()).toEqual(["c1:eth0.del"]);
    await daemon.kill();
  });

  test("and whose daemon was lost half way is kept after its patience", async () => {
    const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    const shim = sandbox.call("DEL", { delPatienceMs: 300 });
    const peer = await daemon.accept();
    await peer.begin();
    await daemon.kill();
    expect((await shim.exited).code).toBe(0);
    expect(records()).toEqual(["c1:eth0.del"]);
  });

  test.skipIf(Bun.which("strace") === null)(
    "is made after all if the daemon came back while the record was written",
    async () => {
      const slowDisk = ["strace", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=300000"];
      const shim = sandbox.call("DEL", { delPatienceMs: 100 }, {}, slowDisk);
      await eventually(() => records().length > 0, "the record is being written");
      const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
      const peer = await daemon.accept();
      await peer.begin();
      expect(records()).toEqual(["c1:eth0.del"]);
      await peer.finish();
      expect((await shim.exited).code).toBe(0);
      await daemon.kill();
    },
  );
});

describe("a record that cannot be written is an error with code 5", () => {
  test("when the folder is full", async () => {
    mkdirSync(sandbox.path("state/offline"), { recursive: true });
    for (let count = 0; count < 1_024; count += 1) writeFileSync(sandbox.path(`state/offline/x${count}:eth0.del`), "");
    const error = await sandbox.call("DEL", { delPatienceMs: 100 }).error();
    expect(error).toMatchObject({ code: 5, msg: expect.stringContaining("at most 1024 files, it holds 1024") });
    expect(error.details).toContain("Cannot reach the daemon");
  });

  test("when the disk is full", async () => {
    mkdirSync(sandbox.path("state/offline"), { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k", "tmpfs", sandbox.path("state/offline")]);
    try {
      writeFileSync(sandbox.path("state/offline/filler"), Buffer.alloc(4_096));
      const error = await sandbox.call("DEL", { delPatienceMs: 100 }).error();
      expect(error.code).toBe(5);
      expect(error.msg).toContain("No space left on device (errno 28)");
      expect(error.msg).toContain(sandbox.path("state/offline/c1:eth0.del"));
      expect(records()).toEqual(["filler"]);
    } finally {
      execFileSync("umount", [sandbox.path("state/offline")]);
    }
  });

  test("when the file system is read-only", async () => {
    mkdirSync(sandbox.path("state/offline"), { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", sandbox.path("state/offline")]);
    try {
      const error = await sandbox.call("DEL", { delPatienceMs: 100 }).error();
      expect(error).toMatchObject({ code: 5, msg: expect.stringContaining("Read-only file system (errno 30)") });
    } finally {
      execFileSync("umount", [sandbox.path("state/offline")]);
    }
  });
});

describe("the acknowledgement", () => {
  test("is left on disk when the daemon goes away before BYE", async () => {
    const shim = await finishedThenAway();
    expect(await shim.exited).toMatchObject({ code: 0, stdout: "{}" });
    const [ack] = record(ackName);
    expect(ack?.type).toBe("ACK");
    expect(ack && flagField(ack, "printed")).toBe(true);
    expect(records()).toEqual([ackName]);
  });

  test("is told by RESUME when it cannot be left on disk, and FINISH is not printed twice", async () => {
    writeFileSync(sandbox.stateDir, "a file where the folder should be");
    const shim = await finishedThenAway();
    const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    const again = await daemon.accept();
    expect(readResume(await again.expect("RESUME")).printed).toBe(true);
    again.welcome();
    await again.finish(0, "{}");
    expect(await shim.exited).toMatchObject({ code: 0, stdout: "{}" });
    await daemon.kill();
  });

  test("that can be neither told nor left ends the call with 1", async () => {
    writeFileSync(sandbox.stateDir, "a file where the folder should be");
    const shim = await finishedThenAway({ addBudgetMs: 900 });
    expect(await shim.exited).toMatchObject({ code: 1, stdout: "{}", stderr: expect.stringContaining("errno 20") });
  });

  test("says that the result had no reader, and the call fails", async () => {
    const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    const shim = sandbox.call("ADD");
    const peer = await daemon.accept();
    await peer.begin();
    shim.closeStdout();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const ack = await peer.finish(0, "{}");
    expect(flagField(ack, "printed")).toBe(false);
    expect(numberField(ack, "errno")).toBe(32);
    expect((await shim.exited).code).toBe(1);
    expect(records()).toEqual([]);
    await daemon.kill();
  });

  test("waits for a reader that is slow", async () => {
    const daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    const shim = sandbox.call("ADD");
    const peer = await daemon.accept();
    await peer.begin();
    const output = JSON.stringify({ padding: "x".repeat(500_000) });
    expect(flagField(await peer.finish(0, output), "printed")).toBe(true);
    expect((await shim.exited).stdout).toBe(output);
    await daemon.kill();
  });
});
