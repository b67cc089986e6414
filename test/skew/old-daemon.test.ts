import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { spawn } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytesField, decodeFrame, numberField, textField } from "../../src/wire/frame.ts";
import { readCall } from "../../src/wire/messages.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import { Sandbox } from "../shim/sandbox.ts";
import { ScriptedDaemon } from "../shim/scripted-daemon.ts";
import type { ShimProcess } from "../shim/shim-process.ts";
import { playOldDaemon, type Answered } from "./old-daemon.ts";
import { describe } from "./old-shim.ts";
import { Scene, sceneFolder } from "./scene.ts";
import { connectionsOf, framesOf, loadTranscript } from "./transcript.ts";

setDefaultTimeout(30_000);

let scene: Scene;
let sandbox: Sandbox;
let daemon: ScriptedDaemon;

beforeAll(async () => {
  scene = await Scene.hold();
});

afterAll(() => scene[Symbol.asyncDispose]());

beforeEach(async () => {
  sandbox = new Sandbox();
  daemon = await ScriptedDaemon.listen(sandbox.socketDir);
});

afterEach(async () => {
  await daemon.kill();
  sandbox.clean();
});

/** Starts the current shim with the variables of the recorded call. */
function call(name: string, connection = 0): ShimProcess {
  const first = framesOf(loadTranscript(name), connection)[0];
  const { verb, containerId, netns, ifname, cniArgs, cniPath } = readCall(first?.frame ?? decodeFrame(new Uint8Array()));
  const env = { CNI_CONTAINERID: containerId, CNI_NETNS: netns, CNI_IFNAME: ifname, CNI_ARGS: cniArgs, CNI_PATH: cniPath };
  return sandbox.call(verb, {}, env);
}

function finishOf(name: string, connection = 0): { readonly code: number | undefined; readonly stdout: string } {
  const finish = framesOf(loadTranscript(name), connection).find(({ frame }) => frame.type === "FINISH")?.frame;
  if (finish === undefined) throw new Error(`${name} has no FINISH`);
  return { code: numberField(finish, "exit_code"), stdout: Buffer.from(bytesField(finish, "output") ?? []).toString() };
}

/** The calls the plugins wrote down, oldest first, as `plugin COMMAND container ifname`. */
function pluginCalls(): readonly string[] {
  const names = readdirSync(join(sceneFolder, "control/calls")).toSorted();
  return names.map((name) => name.replace(/^\d+-/, ""));
}

function failures(answered: readonly Answered[]): readonly string[] {
  return answered.flatMap(({ order, outcome }) => {
    const { failure, message, exitCode } = readOutcome(outcome);
    return failure === undefined && (order.type !== "RUN" || exitCode === 0) ? [] : [`${describe(order)}: ${failure} ${message} ${exitCode}`];
  });
}

test.each([["add-two-networks"], ["check"], ["status"], ["del"]])("the shim obeys a daemon of version 1: %s", async (name) => {
  const shim = call(name);
  const answered = await playOldDaemon(daemon, loadTranscript(name));
  expect(failures(answered)).toEqual([]);
  expect(await shim.exited).toMatchObject(finishOf(name));
  const ran = answered.filter(({ order }) => order.type === "RUN").length;
  expect(pluginCalls().length).toBe(ran);
  for (const each of pluginCalls()) expect(each).toMatch(/^(?:first|second|third)-/);
  clearCalls();
});

test("the shim obeys a daemon of version 1 that undoes a failed ADD", async () => {
  const shim = call("failing-add");
  const answered = await playOldDaemon(daemon, loadTranscript("failing-add"));
  expect(failures(answered)).toEqual(["RUN failing ADD net2: undefined  1"]);
  expect(await shim.exited).toMatchObject(finishOf("failing-add"));
  clearCalls();
});

test("the shim comes back to a daemon of version 1 with the token it was given and the outcome of its step", async () => {
  writeFileSync(join(sceneFolder, "control/scripts/first.ADD"), "sleep 0.3");
  const transcript = loadTranscript("resume");
  const shim = call("resume");
  await playOldDaemon(daemon, transcript, { connection: 0 });
  await playOldDaemon(daemon, transcript, { connection: 1 });
  expect(await shim.exited).toMatchObject(finishOf("resume", 1));
  clearCalls();
});

test("the resident hand serves a daemon of version 1", async () => {
  sandbox.resident();
  const answered = await playOldDaemon(daemon, loadTranscript("resident"));
  expect(failures(answered)).toEqual([]);
  expect(answered.map(({ order }) => order.type)).toContain("REAP");
  expect(answered.filter(({ order }) => order.type === "RUN").length).toBe(1);
  clearCalls();
});

test("the CLI understands the answers of a daemon of version 1", async () => {
  const transcript = loadTranscript("ask");
  const commands = new Map([["timeline", ["why", "plain"]], ["leaks", ["leaks"]], ["attachments", ["ls"]], ["node", ["version"]]]);
  const asked = new Map<string, Buffer>();
  for (const connection of connectionsOf(transcript)) {
    const [question, answer] = framesOf(transcript, connection);
    const { ask } = JSON.parse(question === undefined ? "{}" : (textField(question.frame, "question") ?? "{}")) as { ask: string };
    if (answer !== undefined) asked.set(ask, answer.bytes);
  }
  for (const args of commands.values()) {
    const program = join(import.meta.dir, "../../dist/levee");
    const child = spawn(program, ["--socket-dir", sandbox.socketDir, "--state-dir", sandbox.stateDir, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
    let isOver = false;
    void exited.then(() => (isOver = true));
    while (!isOver) {
      const peer = await Promise.race([daemon.accept(), exited]);
      if (typeof peer !== "object" || peer === null) break;
      const question = await peer.expect("ASK");
      const { ask } = JSON.parse(textField(question, "question") ?? "{}") as { ask: string };
      peer.send(asked.get(ask) ?? new Uint8Array());
    }
    expect({ args, exitCode: await exited, said }).toMatchObject({ exitCode: 0 });
  }
});

function clearCalls(): void {
  for (const name of readdirSync(join(sceneFolder, "control/calls"))) rmSync(join(sceneFolder, "control/calls", name), { recursive: true });
}
