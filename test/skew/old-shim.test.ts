import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AttachmentsAnswer } from "../../src/wire/node-view.ts";
import { bytesField, decodeFrame, numberField, textField, type Frame } from "../../src/wire/frame.ts";
import { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { OldShim } from "./old-shim.ts";
import { RawPeer } from "./raw-peer.ts";
import { furnish, resumeContainer, webContainer } from "./scene.ts";
import { connectionsOf, framesOf, loadTranscript, recordedVersions, withVersions } from "./transcript.ts";
import { withScene } from "./with-scene.ts";

setDefaultTimeout(30_000);

let lab: Lab;

withScene();

beforeEach(async () => {
  lab = await Lab.make();
  await furnish(lab);
  await lab.startDaemon();
});

afterEach(async () => {
  expect(lab.daemonLog).not.toContain("defect");
  await lab.remove();
});

describe.each(recordedVersions)("version %d", (version) => {
  /** Plays a recorded call from CALL to BYE and returns what was to be printed. */
  async function play(
    name: string,
  ): Promise<{ readonly exitCode: number | undefined; readonly output: string; readonly unasked: readonly string[] }> {
    const shim = await OldShim.start(lab.socketDir, loadTranscript(name, version));
    expect((await shim.until("BYE"))?.type).toBe("BYE");
    expect(shim.agreedVersion).toBe(version);
    return { ...finishOf(shim.heard), unasked: shim.unasked };
  }

  function finishOf(frames: readonly Frame[]): { readonly exitCode: number | undefined; readonly output: string } {
    const finish = frames.find((frame) => frame.type === "FINISH");
    if (finish === undefined) throw new Error(`No FINISH among ${frames.map(({ type }) => type).join()}`);
    return {
      exitCode: numberField(finish, "exit_code"),
      output: Buffer.from(bytesField(finish, "output") ?? []).toString(),
    };
  }

  function recorded(name: string, connection = 0): { readonly exitCode: number | undefined; readonly output: string } {
    return finishOf(framesOf(loadTranscript(name, version), connection).map(({ frame }) => frame));
  }

  async function attached(): Promise<readonly string[]> {
    const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
    return attachments.map(({ containerId, phase }) => `${containerId} ${phase}`);
  }

  test("a shim of that version attaches, checks and deletes a pod, and every answer it had ready was asked for", async () => {
    expect(await play("add-two-networks")).toEqual({ ...recorded("add-two-networks"), unasked: [] });
    expect(await attached()).toEqual([`${webContainer} attached`]);
    expect(await play("check")).toEqual({ ...recorded("check"), unasked: [] });
    expect(await play("del")).toEqual({ ...recorded("del"), unasked: [] });
    expect(await leftovers(lab)).toEqual([]);
  });

  test("a shim of that version gets STATUS", async () => {
    expect(await play("status")).toEqual({ exitCode: 0, output: "", unasked: [] });
  });

  test("a shim of that version undoes an ADD that fails, and hears the plugin's own error", async () => {
    const { exitCode, output, unasked } = await play("failing-add");
    expect({ exitCode, unasked }).toEqual({ exitCode: 1, unasked: [] });
    expect(JSON.parse(output)).toMatchObject(JSON.parse(recorded("failing-add").output) as object);
    expect(await leftovers(lab)).toEqual([]);
  });

  test("a shim of that version whose daemon is killed and replaced goes on where it was", async () => {
    const transcript = loadTranscript("resume", version);
    const before = await OldShim.start(lab.socketDir, transcript);
    expect((await before.until("RUN"))?.type).toBe("RUN");
    await lab.killDaemon();
    await lab.startDaemon();
    const after = await OldShim.start(lab.socketDir, transcript, {
      connection: 1,
      token: before.token ?? new Uint8Array(),
    });
    expect((await after.until("BYE"))?.type).toBe("BYE");
    expect(finishOf(after.heard)).toEqual(recorded("resume", 1));
    expect(await attached()).toEqual([`${resumeContainer} attached`]);
  });

  test("a resident hand of that version clears up after a shim of that version that was killed", async () => {
    const transcript = loadTranscript("resident", version);
    const resident = await OldShim.start(lab.socketDir, transcript);
    const cleared = resident.until();
    const lost = await OldShim.start(lab.socketDir, transcript, { connection: 1 });
    expect((await lost.until("RUN"))?.type).toBe("RUN");
    lost.cut();
    await lab.until("nothing is attached", async () => (await attached()).length === 0 || undefined);
    expect(resident.unasked.filter((order) => order !== "REAP")).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
    resident.cut();
    await cleared;
  });

  test("the questions of a CLI of that version are answered with every field it had", async () => {
    const transcript = loadTranscript("ask", version);
    expect(await play("add-two-networks")).toMatchObject({ exitCode: 0 });
    for (const connection of connectionsOf(transcript)) {
      const [question, answer] = framesOf(transcript, connection);
      const peer = await RawPeer.connect(lab.socketDir);
      peer.send(question?.bytes ?? new Uint8Array());
      const [now, ...more] = await peer.rest();
      expect({ type: now?.type, more }).toEqual({ type: "ANSWER", more: [] });
      expect(missing(answerOf(answer?.frame), answerOf(now), "")).toEqual([]);
    }
  });
});

test("what a shim of version 3 tells of a slow plugin is taken", async () => {
  const transcript = loadTranscript("slow-add", 3);
  const told = framesOf(transcript, 0).filter(({ frame }) => frame.type === "PROGRESS");
  expect(told.length).toBe(2);
  const shim = await OldShim.start(lab.socketDir, transcript);
  expect((await shim.until("BYE"))?.type).toBe("BYE");
  expect(shim.unasked).toEqual([]);
});

test("a shim that agreed on version 2 and tells how a plugin moves is refused", async () => {
  let hasTold = false;
  const pretender = await OldShim.start(lab.socketDir, loadTranscript("slow-add", 3), {
    dress: (bytes) => {
      const { type } = decodeFrame(bytes.subarray(4));
      if (type === "CALL") return withVersions(bytes, 1, 2);
      // Nothing after the first one: a frame that the daemon does not read any more resets the connection, and with it the
      // refusal may be lost.
      if (hasTold) return new Uint8Array();
      hasTold = type === "PROGRESS";
      return bytes;
    },
  });
  const refusal = await pretender.until("BYE", "REFUSE");
  expect(refusal?.type).toBe("REFUSE");
  expect(refusal === undefined ? "" : textField(refusal, "message")).toContain("it needs protocol 3");
});

function answerOf(frame: Frame | undefined): unknown {
  return JSON.parse((frame === undefined ? undefined : textField(frame, "answer")) ?? "null");
}

/** The fields of an old answer that the new one lacks; of lists the first entries are compared, when both have one. */
function missing(old: unknown, now: unknown, path: string): readonly string[] {
  if (Array.isArray(old) && Array.isArray(now))
    return old.length > 0 && now.length > 0 ? missing(old[0], now[0], `${path}[]`) : [];
  if (typeof old !== "object" || old === null) return typeof now === typeof old ? [] : [path];
  if (typeof now !== "object" || now === null) return [path];
  return Object.entries(old).flatMap(([key, value]) =>
    missing(value, (now as Record<string, unknown>)[key], `${path}.${key}`),
  );
}
