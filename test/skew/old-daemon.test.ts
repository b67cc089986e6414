import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import { bytesField, decodeFrame, numberField, textField, type Frame } from "../../src/wire/frame.ts";
import { readCall } from "../../src/wire/messages.ts";
import { readFolderPage } from "../../src/wire/folder-page.ts";
import { readNetnsLinks } from "../../src/wire/netns-links.ts";
import { readOutcome } from "../../src/wire/outcome.ts";
import type { ShimProcess } from "../shim/shim-process.ts";
import { daemon, sandbox, withDaemon } from "../shim/with-daemon.ts";
import { playOldDaemon, type Answered } from "./old-daemon.ts";
import { describe as inWords } from "./old-shim.ts";
import { sceneFolder } from "./scene.ts";
import { connectionsOf, framesOf, loadTranscript, recordedVersions } from "./transcript.ts";
import { withScene } from "./with-scene.ts";

setDefaultTimeout(30_000);

withScene();
withDaemon();

/** The calls the plugins wrote down, oldest first, as `plugin COMMAND container ifname`. */
function pluginCalls(): readonly string[] {
  const names = readdirSync(join(sceneFolder, "control/calls")).toSorted();
  return names.map((name) => name.replace(/^\d+-/, ""));
}

function failures(answered: readonly Answered[]): readonly string[] {
  return answered.flatMap(({ order, outcome }) => {
    const { failure, message, exitCode } = readOutcome(outcome);
    return failure === undefined && (order.type !== "RUN" || exitCode === 0)
      ? []
      : [`${inWords(order)}: ${failure} ${message} ${exitCode}`];
  });
}

describe.each(recordedVersions)("version %d", (version) => {
  /** Starts the current shim with the variables of the recorded call. */
  function call(name: string, connection = 0): ShimProcess {
    const first = framesOf(loadTranscript(name, version), connection)[0];
    const { verb, containerId, netns, ifname, cniArgs, cniPath } = readCall(
      first?.frame ?? decodeFrame(new Uint8Array()),
    );
    const env = {
      CNI_CONTAINERID: containerId,
      CNI_NETNS: netns,
      CNI_IFNAME: ifname,
      CNI_ARGS: cniArgs,
      CNI_PATH: cniPath,
    };
    return sandbox.call(verb, {}, env);
  }

  function finishOf(name: string, connection = 0): { readonly code: number | undefined; readonly stdout: string } {
    const finish = framesOf(loadTranscript(name, version), connection).find(
      ({ frame }) => frame.type === "FINISH",
    )?.frame;
    if (finish === undefined) throw new Error(`${name} has no FINISH`);
    return {
      code: numberField(finish, "exit_code"),
      stdout: Buffer.from(bytesField(finish, "output") ?? []).toString(),
    };
  }

  test.each([["add-two-networks"], ["check"], ["status"], ["del"]])(
    "the shim obeys a daemon of that version: %s",
    async (name) => {
      const shim = call(name);
      const answered = await playOldDaemon(daemon, loadTranscript(name, version));
      expect(failures(answered)).toEqual([]);
      expect(await shim.exited).toMatchObject(finishOf(name));
      const ran = answered.filter(({ order }) => order.type === "RUN").length;
      expect(pluginCalls().length).toBe(ran);
      for (const each of pluginCalls()) expect(each).toMatch(/^(?:first|second|third)-/);
      clearCalls();
    },
  );

  test("the shim obeys a daemon of that version that undoes a failed ADD", async () => {
    const shim = call("failing-add");
    const answered = await playOldDaemon(daemon, loadTranscript("failing-add", version));
    expect(failures(answered)).toEqual(["RUN failing ADD net2: undefined  1"]);
    expect(await shim.exited).toMatchObject(finishOf("failing-add"));
    clearCalls();
  });

  test("the shim comes back to a daemon of that version with the token it was given and the outcome of its step", async () => {
    writeFileSync(join(sceneFolder, "control/scripts/first.ADD"), "sleep 0.3");
    const transcript = loadTranscript("resume", version);
    const shim = call("resume");
    await playOldDaemon(daemon, transcript, { connection: 0 });
    await playOldDaemon(daemon, transcript, { connection: 1 });
    expect(await shim.exited).toMatchObject(finishOf("resume", 1));
    clearCalls();
  });

  test("the resident hand serves a daemon of that version", async () => {
    sandbox.resident();
    const answered = await playOldDaemon(daemon, loadTranscript("resident", version));
    expect(failures(answered)).toEqual([]);
    expect(answered.map(({ order }) => order.type)).toContain("REAP");
    expect(answered.filter(({ order }) => order.type === "RUN").length).toBe(1);
    clearCalls();
  });

  test.each([[["why", "plain"]], [["leaks"]], [["ls"]], [["version"]]])(
    "the CLI understands the answers of a daemon of that version: %p",
    async (args) => {
      const folder = sandbox.path("answers");
      mkdirSync(folder, { mode: 0o700 });
      const answers = recordedAnswers();
      const server = createServer((socket) => {
        const reader = new FrameReader();
        socket.on("data", (chunk: Buffer) => {
          for (const frame of reader.push(chunk)) socket.end(answers.get(questionOf(frame)) ?? new Uint8Array());
        });
      });
      server.listen(join(folder, "levee.sock"));
      const program = join(import.meta.dir, "../../dist/levee");
      const folders = ["--socket-dir", folder, "--state-dir", sandbox.stateDir];
      const child = spawn(program, [...folders, ...args], { stdio: ["ignore", "pipe", "pipe"] });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
      const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
      server.close();
      expect({ exitCode, said }).toMatchObject({ exitCode: 0, said: expect.stringMatching(/\w/) });
    },
  );

  /** The recorded daemon's answers, by question. */
  function recordedAnswers(): ReadonlyMap<string, Buffer> {
    const transcript = loadTranscript("ask", version);
    const pairs = connectionsOf(transcript).map((connection) => framesOf(transcript, connection));
    return new Map(
      pairs.map(([question, answer]) => [
        question === undefined ? "" : questionOf(question.frame),
        answer?.bytes ?? Buffer.alloc(0),
      ]),
    );
  }
});

function questionOf(frame: Frame): string {
  return (JSON.parse(textField(frame, "question") ?? "{}") as { ask: string }).ask;
}

function clearCalls(): void {
  for (const name of readdirSync(join(sceneFolder, "control/calls")))
    rmSync(join(sceneFolder, "control/calls", name), { recursive: true });
}

test("the resident hand carries out the orders that came with version 2, and its answers then can be read now", async () => {
  sandbox.resident();
  const transcript = loadTranscript("look", 2);
  const answered = await playOldDaemon(daemon, transcript);
  expect(answered.map(({ order }) => order.type)).toEqual(["LINKS", "LINKS", "LIST", "LIST", "RUN"]);
  const recorded = framesOf(transcript, 0).filter(({ frame }) => frame.type === "OUTCOME");
  for (const outcomes of [answered.map(({ outcome }) => outcome), recorded.map(({ frame }) => frame)]) {
    const [links, noLinks, list, noList, run] = outcomes.map((frame) => ({
      links: readNetnsLinks(frame).value.names,
      entries: readFolderPage(frame).value.entries.map(({ name, kind }) => `${kind} ${name}`),
      outcome: readOutcome(frame),
    }));
    expect(links?.links).toContain("lo");
    expect(noLinks?.outcome).toMatchObject({ failure: "links", errno: 2 });
    expect(list?.entries).toContain("other first");
    expect(noList?.outcome).toMatchObject({ failure: "list", errno: 2 });
    expect(run?.outcome.exitCode).toBe(0);
  }
  clearCalls();
});
