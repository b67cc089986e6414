import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import {
  encodeFrame,
  numberField,
  protocolVersion,
  protocolVersionMin,
  textField,
  type Frame,
} from "../../wire/frame.ts";
import { encodeRefuse } from "../../wire/messages.ts";
import { failureOf } from "../failure-of.fixture.ts";
import { askSocket, isListening, isUnreachable } from "./ask.ts";
import { CommandFailure } from "../failure.ts";

let folder = "";
let server: Server | undefined;
const asked: Frame[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-ask-"));
  asked.length = 0;
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

/** A daemon that does what the test says when the question has arrived. */
async function daemon(reply: (socket: Socket) => void): Promise<string> {
  const path = join(folder, "levee.sock");
  server = createServer((socket) => {
    const reader = new FrameReader();
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const frames = reader.push(chunk);
      asked.push(...frames);
      if (frames.length > 0) reply(socket);
    });
  });
  await new Promise<void>((resolve) => void server?.listen(path, resolve));
  return path;
}

function answerFrame(value: unknown): Uint8Array {
  return encodeFrame("ANSWER", [["answer", JSON.stringify(value)]]);
}

function asking(
  socket: string,
  extra: { signal?: AbortSignal; deadlineMs?: number } = {},
): ReturnType<typeof askSocket<{ ask: "leaks" }>> {
  return askSocket({ ask: "leaks" }, { socket, clock: systemClock, ...extra });
}

describe("askSocket", () => {
  test("sends version, software and question, and returns the answer", async () => {
    const leaks = { leaks: [], quarantined: [] };
    const socket = await daemon((peer) => peer.write(answerFrame({ answer: leaks })));
    expect(await asking(socket)).toEqual(leaks);
    const [frame] = asked;
    if (frame === undefined) throw new Error("nothing was asked");
    expect(frame.type).toBe("ASK");
    expect(textField(frame, "question")).toBe('{"ask":"leaks"}');
    expect(textField(frame, "software")).toStartWith("levee ");
    expect([numberField(frame, "version_min"), numberField(frame, "version_max")]).toEqual([
      protocolVersionMin,
      protocolVersion,
    ]);
  });

  test("puts together an answer that comes in pieces", async () => {
    const bytes = answerFrame({ answer: { leaks: [], quarantined: [], padding: "x".repeat(200_000) } });
    const socket = await daemon((peer) => {
      peer.write(bytes.subarray(0, 3));
      setTimeout(() => peer.write(bytes.subarray(3, 70_000)), 10);
      setTimeout(() => peer.write(bytes.subarray(70_000)), 20);
    });
    expect(await asking(socket)).toMatchObject({ leaks: [] });
  });

  test("passes over frames that are not for it", async () => {
    const socket = await daemon((peer) => {
      peer.write(encodeFrame("HEARTBEAT", []));
      peer.write(answerFrame({ answer: { leaks: [], quarantined: [] } }));
    });
    expect(await asking(socket)).toMatchObject({ leaks: [] });
  });

  test("fails with the daemon's own code and message", async () => {
    const socket = await daemon((peer) =>
      peer.write(answerFrame({ error: { code: "pod-unknown", message: "Cannot find the pod" } })),
    );
    expect(await failureOf(asking(socket))).toMatchObject({ code: "pod-unknown", message: "Cannot find the pod" });
  });

  test("fails with the reason of a refusal and what to do about it", async () => {
    const socket = await daemon((peer) =>
      peer.write(encodeRefuse(new LeveeError("protocol-violated", "it speaks protocol 9"))),
    );
    expect(await failureOf(asking(socket))).toMatchObject({
      code: "protocol-violated",
      message: "it speaks protocol 9",
      remedy: expect.stringContaining("levee version"),
    });
  });

  test.each(["not json", "[]", "null", "{}", '"text"'])("refuses %j as an answer", async (text) => {
    const socket = await daemon((peer) => peer.write(encodeFrame("ANSWER", [["answer", text]])));
    expect(await failureOf(asking(socket))).toMatchObject({ code: "decode-failed" });
  });

  test("refuses a stream that is not the protocol", async () => {
    const socket = await daemon((peer) => peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect(await failureOf(asking(socket))).toMatchObject({ code: "protocol-violated" });
  });
});

describe("askSocket without a daemon", () => {
  test("names the socket and what to check when it does not exist", async () => {
    const failure = await failureOf(asking(join(folder, "none.sock")));
    expect(isUnreachable(failure)).toBe(true);
    expect(failure).toMatchObject({
      message: `Cannot ask the daemon on ${join(folder, "none.sock")}: the socket does not exist`,
      remedy: expect.stringContaining("--socket-dir"),
    });
  });

  test("tells a socket without a listener from a missing one", async () => {
    const path = join(folder, "dead.sock");
    // A killed daemon leaves its socket's file behind.
    const child = Bun.spawnSync([
      process.execPath,
      "-e",
      `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
    ]);
    expect(child.signalCode).toBe("SIGKILL");
    const failure = await failureOf(asking(path));
    expect(isUnreachable(failure)).toBe(true);
    expect(failure).toMatchObject({ message: expect.stringContaining("no process listens") });
  });

  test("says so when the path is a plain file", async () => {
    const path = join(folder, "file");
    writeFileSync(path, "");
    expect(isUnreachable(await failureOf(asking(path)))).toBe(true);
  });

  test("gives up on a daemon that is silent", async () => {
    const socket = await daemon(() => undefined);
    const failure = await failureOf(asking(socket, { deadlineMs: 50 }));
    expect(isUnreachable(failure)).toBe(true);
    expect(failure).toMatchObject({ message: expect.stringContaining("no answer within 0.05 s") });
  });

  test("says so when the daemon hangs up without an answer", async () => {
    const socket = await daemon((peer) => peer.destroy());
    expect(await failureOf(asking(socket))).toMatchObject({ code: "daemon-unreachable" });
  });

  test("says so when the daemon dies in the middle of an answer", async () => {
    const socket = await daemon((peer) => peer.end(answerFrame({ answer: {} }).subarray(0, 7)));
    expect(await failureOf(asking(socket))).toMatchObject({ code: "daemon-unreachable" });
  });

  test("ends at once on Ctrl-C, before and while it waits", async () => {
    const socket = await daemon(() => undefined);
    expect(await failureOf(asking(socket, { signal: AbortSignal.abort() }))).toMatchObject({
      code: "interrupted",
      exitCode: 130,
    });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    expect(await failureOf(asking(socket, { signal: controller.signal }))).toMatchObject({ code: "interrupted" });
  });

  test("isUnreachable is false for other failures", () => {
    expect(isUnreachable(new CommandFailure("pod-unknown", "x"))).toBe(false);
    expect(isUnreachable(new Error("x"))).toBe(false);
  });
});

describe("isListening", () => {
  test("is true for a server only", async () => {
    const path = join(folder, "s.sock");
    expect(await isListening(path)).toBe(false);
    const listener = createServer(() => undefined);
    await new Promise<void>((resolve) => void listener.listen(path, resolve));
    expect(await isListening(path)).toBe(true);
    await new Promise((resolve) => listener.close(resolve));
    expect(await isListening(path)).toBe(false);
  });

  test("is false for a file that is no socket", async () => {
    writeFileSync(join(folder, "file"), "");
    expect(await isListening(join(folder, "file"))).toBe(false);
  });
});
