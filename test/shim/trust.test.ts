import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync } from "node:fs";
import { spawn } from "node:child_process";
import { Sandbox } from "./sandbox.ts";
import { ScriptedDaemon } from "./scripted-daemon.ts";

let sandbox: Sandbox;
let daemon: ScriptedDaemon | undefined;

beforeEach(() => {
  sandbox = new Sandbox();
});

afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
  sandbox.clean();
});

test.each([[0o755], [0o750], [0o701], [0o1700]])(
  "a socket folder with mode %o is not trusted, and waiting does not help",
  async (mode) => {
    daemon = await ScriptedDaemon.listen(sandbox.socketDir);
    chmodSync(sandbox.socketDir, mode);
    const started = performance.now();
    const error = await sandbox.call("ADD").error();
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(error.code).toBe(115);
    expect(error.msg).toContain(sandbox.socketDir);
    expect(error.msg).toContain(`uid 0 with mode ${mode.toString(8).padStart(4, "0")}`);
  },
);

test("a socket folder of another user is not trusted", async () => {
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  chownSync(sandbox.socketDir, 65_534, 65_534);
  expect(await sandbox.call("ADD").error()).toMatchObject({ code: 115, msg: expect.stringContaining("uid 65534") });
});

test("a DEL with such a folder is kept on disk", async () => {
  chmodSync(sandbox.socketDir, 0o777);
  expect((await sandbox.call("DEL").exited).code).toBe(0);
  expect(existsSync(sandbox.path("state/offline/c1:eth0.del"))).toBe(true);
});

test("a listener that is not root is not obeyed", async () => {
  // perl binds as root, then gives its rights away before it listens, so the kernel reports the other user.
  const script = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0])) or die; $( = $) = "65534 65534"; $< = $> = 65534; listen(S, 5); print "up\\n"; close STDOUT; sleep 30`;
  const listener = spawn("perl", ["-e", script, `${sandbox.socketDir}/levee.sock`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await new Promise((resolve) => listener.stdout.once("data", resolve));
    const error = await sandbox.call("ADD").error();
    expect(error).toMatchObject({
      code: 115,
      msg: expect.stringContaining("must run as uid 0, current value is 65534"),
    });
  } finally {
    listener.kill("SIGKILL");
  }
});

test("a socket path that is too long is told at once", async () => {
  const error = await sandbox.call("ADD", { daemonSocketDir: `${sandbox.socketDir}/${"./".repeat(60)}` }).error();
  expect(error).toMatchObject({ code: 115, msg: expect.stringContaining("108 bytes") });
});

test("a full listen backlog is waited for, not blocked on", async () => {
  const script = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un($ARGV[0])) or die; listen(S, 0); socket(C, AF_UNIX, SOCK_STREAM, 0); connect(C, sockaddr_un($ARGV[0])); print "up\\n"; close STDOUT; sleep 30`;
  const listener = spawn("perl", ["-e", script, `${sandbox.socketDir}/levee.sock`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await new Promise((resolve) => listener.stdout.once("data", resolve));
    const started = performance.now();
    const error = await sandbox.call("ADD", { addBudgetMs: 600 }).error();
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(error).toMatchObject({ code: 11, msg: expect.stringContaining("errno 11") });
  } finally {
    listener.kill("SIGKILL");
  }
});
