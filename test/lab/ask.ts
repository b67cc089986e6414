import { connect } from "node:net";
import { join } from "node:path";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import { encodeFrame, protocolVersion, textField } from "../../src/wire/frame.ts";
import type { Answer, Question } from "../../src/wire/node-view.ts";

/** Asks the daemon as the CLI does. */
export function ask<T>(socketDir: string, question: Question): Promise<T> {
  return new Promise((resolve, reject) => {
    const reader = new FrameReader();
    const socket = connect(join(socketDir, "levee.sock"));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The daemon closed the connection")));
    socket.on("data", (chunk: Buffer) => {
      for (const frame of reader.push(chunk)) {
        if (frame.type !== "ANSWER") continue;
        const reply = JSON.parse(textField(frame, "answer") ?? "{}") as Answer<T>;
        if ("answer" in reply) resolve(reply.answer);
        else reject(new Error(`${reply.error.code}: ${reply.error.message}`));
        socket.destroy();
      }
    });
    socket.on("connect", () => {
      socket.write(
        encodeFrame("ASK", [
          ["version_min", protocolVersion],
          ["version_max", protocolVersion],
          ["software", "lab"],
          ["question", JSON.stringify(question)],
        ]),
      );
    });
  });
}
