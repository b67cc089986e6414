import { afterEach, beforeEach, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { Http2Server, ServerHttp2Stream } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grpcCall } from "./grpc-call.ts";
import { kubeletSocket, respond } from "./kubelet.fixture.ts";

let folder = "";
let server: Http2Server | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-grpc-"));
});
afterEach(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function call(answer: (stream: ServerHttp2Stream) => void, signal: AbortSignal) {
  const socketPath = join(folder, "kubelet.sock");
  server = await kubeletSocket(socketPath, answer);
  return () => grpcCall({ socketPath, method: "/a.B/C", bytesMax: 100, signal });
}

test("grpcCall leaves nothing on a signal that outlives it, whether it succeeds or fails", async () => {
  const { signal } = new AbortController();
  const sizes = [10, 1_000];
  const ask = await call((stream) => respond(stream, Buffer.alloc(sizes.shift() ?? 0)), signal);
  expect(await ask()).toHaveLength(10);
  const failure: unknown = await ask().catch((thrown: unknown) => thrown);
  expect(String(failure)).toContain("the answer has more than 100 bytes");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("grpcCall ends when it is aborted before it has connected", async () => {
  const controller = new AbortController();
  const ask = await call(() => undefined, controller.signal);
  const asked = ask();
  controller.abort(new Error("too late"));
  expect(String(await asked.catch((thrown: unknown) => thrown))).toContain("too late");
});
