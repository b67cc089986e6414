import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { encodeFrame, flagField } from "../../src/wire/frame.ts";
import { encodeRun, readResume, type RunOrder } from "../../src/wire/messages.ts";
import { eventually, isAlive, Sandbox } from "./sandbox.ts";
import { ScriptedDaemon, token, type Peer } from "./scripted-daemon.ts";

let sandbox: Sandbox;
let daemon: ScriptedDaemon;

beforeEach(async () => {
  sandbox = new Sandbox();
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
});

afterEach(async () => {
  await daemon.kill();
  sandbox.clean();
});

/** A plugin that writes what it was asked into a log, and then does as told. */
function logging(name: string, body = ""): RunOrder {
  const plugin = sandbox.plugin(name, `in=$(cat); echo "${name} $CNI_COMMAND $CNI_IFNAME $in" >> "$DIR/log"\n${body}`);
  return { ...sandbox.run(plugin), undo: { command: "DEL", timeoutMs: 1_000 } };
}

async function restart(): Promise<Peer> {
  await daemon.kill();
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  return daemon.accept();
}

const hexToken = Buffer.from(token).toString("hex");

test("a daemon killed during a run gets the outcome under the token when it is back", async () => {
  const shim = sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.begin();
  peer.send(encodeRun(4, logging("slow", "sleep 0.3; echo result")));
  await eventually(() => sandbox.read("log") !== "", "the plugin runs");
  const again = await restart();
  const resume = readResume(await again.expect("RESUME"));
  expect(resume).toMatchObject({
    token: hexToken,
    printed: false,
    call: { verb: "ADD", containerId: "c1", hand: { pid: shim.pid } },
  });
  expect(resume.last).toMatchObject({ step: 4, outcome: { exitCode: 0 } });
  expect(Buffer.from(resume.last?.outcome.stdout ?? []).toString()).toBe("result\n");
  expect(resume.call.budgetMs).toBeLessThan(110_000);
  again.welcome();
  await again.finish(0, "{}");
  expect(await shim.exited).toMatchObject({ code: 0, stdout: "{}" });
  expect(sandbox.read("log")).toBe("slow ADD eth0 {}\n");
});

test("a run that hangs while the daemon is lost is ended, and the next daemon is told", async () => {
  const shim = sandbox.call("ADD", { addBudgetMs: 8_000 });
  const peer = await daemon.accept();
  await peer.begin();
  peer.send(encodeRun(4, { ...logging("hung", "exec sleep 60"), timeoutMs: 60_000 }));
  await eventually(() => sandbox.read("log") !== "", "the plugin runs");
  const again = await restart();
  const resume = readResume(await again.expect("RESUME"));
  expect(resume.last).toMatchObject({ step: 4, outcome: { failure: "killed", signal: 9 } });
  again.welcome();
  await again.finish(1, "{}");
  expect(await shim.exited).toMatchObject({ code: 1 });
});

test("a new token replaces the old one, and GO may come after RESUME", async () => {
  const shim = sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.expect("CALL");
  peer.welcome();
  const second = await restart();
  expect(readResume(await second.expect("RESUME"))).toMatchObject({ token: hexToken, last: undefined });
  const newToken = new Uint8Array(16).fill(7);
  second.welcome(1_000, newToken);
  second.order("GO");
  await second.expect("CONFIG");
  const third = await restart();
  expect(readResume(await third.expect("RESUME")).token).toBe("07".repeat(16));
  third.welcome();
  await third.finish();
  expect((await shim.exited).code).toBe(0);
});

test("before WELCOME the call is simply made again", async () => {
  const shim = sandbox.call("ADD");
  await (await daemon.accept()).expect("CALL");
  const again = await restart();
  await again.begin();
  await again.finish();
  expect((await shim.exited).code).toBe(0);
});

test("three silent intervals count as lost, and any frame keeps the connection", async () => {
  const shim = sandbox.call("ADD");
  const peer = await daemon.accept();
  await peer.begin(100);
  const started = performance.now();
  for (let count = 0; count < 4; count += 1) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    peer.order("HEARTBEAT");
  }
  const beaten = performance.now() - started;
  await peer.expectEnd();
  const silence = performance.now() - started - beaten;
  expect(silence).toBeGreaterThan(250);
  expect(silence).toBeLessThan(600);
  const again = await daemon.accept();
  await again.expect("RESUME");
  again.welcome();
  await again.finish();
  expect((await shim.exited).code).toBe(0);
});

test("a daemon that takes the connection and drops it is not hammered", async () => {
  sandbox.call("ADD");
  let connections = 0;
  const started = performance.now();
  while (performance.now() - started < 800) {
    const peer = await daemon.accept();
    connections += 1;
    peer.destroy();
  }
  expect(connections).toBeLessThanOrEqual(9); // every pause is at least 100 ms
});

describe("at the end of its time an ADD undoes its own runs, last first", () => {
  test("when the daemon is away", async () => {
    const shim = sandbox.call("ADD", { addBudgetMs: 1_600 });
    const peer = await daemon.accept();
    await peer.begin();
    for (const [index, name] of ["one", "two"].entries()) {
      peer.send(encodeRun(index + 1, { ...logging(name), stdin: `{"n":${index}}` }));
      await peer.expect("OUTCOME");
    }
    peer.send(encodeRun(3, { ...sandbox.run(sandbox.plugin("no-undo", 'echo none >> "$DIR/log"')) }));
    await peer.expect("OUTCOME");
    await daemon.kill();
    const error = await shim.error();
    expect(error).toMatchObject({ code: 11, details: "Undid 2 of 2 runs" });
    expect(error.msg).toContain("Cannot reach the daemon");
    expect(sandbox.read("log")).toBe(
      ['one ADD eth0 {"n":0}', 'two ADD eth0 {"n":1}', "none", 'two DEL eth0 {"n":1}', 'one DEL eth0 {"n":0}', ""].join(
        "\n",
      ),
    );
    daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  });

  test("when the daemon only says that it is alive, with a plugin still running", async () => {
    const shim = sandbox.call("ADD", { addBudgetMs: 1_600 });
    const peer = await daemon.accept();
    await peer.begin(200);
    peer.send(encodeRun(1, logging("stuck", '[ $CNI_COMMAND = DEL ] || { echo $$ > "$DIR/pid"; sleep 30; }')));
    const pid = await sandbox.pidIn("pid");
    const beating = setInterval(() => peer.order("HEARTBEAT"), 100);
    const started = performance.now();
    const error = await shim.error();
    clearInterval(beating);
    expect(performance.now() - started).toBeLessThan(1_700);
    expect(error).toMatchObject({
      code: 11,
      msg: "Cannot complete ADD within 1200 ms: the daemon did not finish it",
      details: "Undid 1 of 1 runs",
    });
    expect(isAlive(pid)).toBe(false);
    expect(sandbox.read("log")).toBe("stuck ADD eth0 {}\nstuck DEL eth0 {}\n");
  });

  test("and says what it could not undo; one that hangs does not take the time of the others", async () => {
    const shim = sandbox.call("ADD", { addBudgetMs: 2_000 });
    const peer = await daemon.accept();
    await peer.begin();
    for (const [index, order] of [
      logging("one"),
      logging("two", "[ $CNI_COMMAND = DEL ] && sleep 30; true"),
    ].entries()) {
      peer.send(encodeRun(index + 1, order));
      await peer.expect("OUTCOME");
    }
    await daemon.kill();
    expect(await shim.error()).toMatchObject({ code: 11, details: "Undid 1 of 2 runs; failed to undo two of step 2" });
    expect(sandbox.read("log")).toEndWith("two DEL eth0 {}\none DEL eth0 {}\n");
    daemon = await ScriptedDaemon.listen(sandbox.socketDir);
  });

  test("but not a run that never started", async () => {
    const shim = sandbox.call("ADD", { addBudgetMs: 800 });
    const peer = await daemon.accept();
    await peer.begin();
    const order = logging("gone");
    peer.send(encodeRun(1, { ...order, env: { ...order.env, CNI_PATH: "/nowhere" } }));
    await peer.expect("OUTCOME");
    const error = await shim.error();
    expect(error.code).toBe(11);
    expect(error.details).toBeUndefined();
  });

  test("and a run that did, also when the same step was ordered again and did not start", async () => {
    const shim = sandbox.call("ADD", { addBudgetMs: 2_000 });
    const peer = await daemon.accept();
    await peer.begin();
    const order = logging("one");
    peer.send(encodeRun(1, order));
    await peer.expect("OUTCOME");
    peer.send(encodeRun(1, { ...order, env: { ...order.env, CNI_PATH: "/nowhere" } }));
    await peer.expect("OUTCOME");
    expect(await shim.error()).toMatchObject({ code: 11, details: "Undid 1 of 1 runs" });
    expect(sandbox.read("log")).toBe("one ADD eth0 {}\none DEL eth0 {}\n");
  });
});

describe("REFUSE", () => {
  test.each([
    ["try-later", 11],
    ["protocol-violated", 112],
    ["state-unwritable", 11],
  ])("%s ends an ADD with code %d, undone", async (code, number) => {
    const shim = sandbox.call("ADD");
    const peer = await daemon.accept();
    await peer.begin();
    peer.send(encodeRun(1, logging("one")));
    await peer.expect("OUTCOME");
    peer.order("REFUSE", [
      ["code", code],
      ["message", "Cannot go on"],
    ]);
    expect(await shim.error()).toMatchObject({ code: number, msg: "Cannot go on", details: "Undid 1 of 1 runs" });
    expect(sandbox.read("log")).toBe("one ADD eth0 {}\none DEL eth0 {}\n");
  });

  test("of a RESUME makes the shim undo as well", async () => {
    const shim = sandbox.call("ADD");
    const peer = await daemon.accept();
    await peer.begin();
    peer.send(encodeRun(1, logging("one")));
    await peer.expect("OUTCOME");
    const again = await restart();
    await again.expect("RESUME");
    again.send(
      encodeFrame("REFUSE", [
        ["code", "try-later"],
        ["message", "Cannot resume"],
      ]),
    );
    expect(await shim.error()).toMatchObject({ code: 11, msg: "Cannot resume", details: "Undid 1 of 1 runs" });
  });

  test("of a STATUS is a success", async () => {
    const shim = sandbox.call("STATUS");
    const peer = await daemon.accept();
    await peer.expect("CALL");
    peer.order("REFUSE", [
      ["code", "try-later"],
      ["message", "Cannot serve"],
    ]);
    expect(await shim.exited).toMatchObject({ code: 0, stdout: "" });
  });
});

test("FINISH that came just before the end of the connection still counts", async () => {
  const shim = sandbox.call("STATUS");
  const peer = await daemon.accept();
  await peer.begin();
  peer.order("FINISH", [
    ["exit_code", 1],
    ["output", '{"code":50}'],
  ]);
  expect(flagField(await peer.expect("ACK"), "printed")).toBe(true);
  await daemon.kill();
  expect(await shim.exited).toMatchObject({ code: 1, stdout: '{"code":50}' });
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
});
