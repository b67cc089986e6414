import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { FrameReader } from "../../src/wire/frame-reader.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { encodeFinish, encodeWelcome } from "../../src/wire/messages.ts";

/**
 * Two daemons with nothing behind them, in their own process: one speaks our frames on the first path, the other Multus'
 * HTTP on the second. Both answer at once, so only the shim is measured.
 */
const [leveeSocket = "", multusSocket = ""] = process.argv.slice(2);

createServer((socket) => {
  const reader = new FrameReader();
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) {
      if (frame.type === "CALL")
        socket.write(Buffer.concat([encodeWelcome(new Uint8Array(16), 5_000, "trivial"), encodeFinish(0, "")]));
      if (frame.type === "ACK") socket.end(encodeFrame("BYE", []));
    }
  });
}).listen(leveeSocket);

createHttpServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(200, { Connection: "close" }).end());
}).listen(multusSocket, () => process.stdout.write("ready\n"));
