import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { LeveeError } from "../../base/errors.ts";

interface GrpcCall {
  readonly socketPath: string;
  /** `/package.Service/Method` */
  readonly method: string;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** One byte for compression, four for the length. */
const prefixBytes = 5;

/** A unary gRPC call with an empty request over a unix socket. It needs no gRPC library. */
export async function grpcCall(call: GrpcCall): Promise<Uint8Array> {
  call.signal.throwIfAborted();
  // Loaded late: a node without device plugins does not need it.
  const [{ connect }, { connect: connectSocket }] = await Promise.all([import("node:http2"), import("node:net")]);
  call.signal.throwIfAborted();
  const session = connect("http://localhost", { createConnection: () => connectSocket(call.socketPath) });
  // The signal may outlive many calls, so its listener is removed after each.
  const settled = new AbortController();
  try {
    return await unary(session, call, settled.signal);
  } finally {
    settled.abort();
    session.destroy();
  }
}

function unary(session: ClientHttp2Session, call: GrpcCall, settled: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const fail = (thrown: unknown): void => reject(asFailure(call, thrown));
    // Not `once`: a session may fail again while it is destroyed, and an unhandled error would end the daemon.
    session.on("error", fail);
    call.signal.addEventListener("abort", () => fail(call.signal.reason), { once: true, signal: settled });
    const stream = session.request({
      ":method": "POST",
      ":path": call.method,
      "content-type": "application/grpc",
      "te": "trailers",
    });
    stream.on("error", fail);
    collect(stream, call, (thrown, message) => {
      if (message === undefined) fail(thrown);
      else resolve(message);
    });
    stream.end(Buffer.alloc(prefixBytes));
  });
}

function collect(
  stream: ClientHttp2Stream,
  call: GrpcCall,
  done: (thrown: unknown, message?: Uint8Array) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let status: string | undefined;
  let message = "";
  const note = (headers: IncomingHttpHeaders): void => {
    status ??= textOf(headers["grpc-status"]);
    message = textOf(headers["grpc-message"]) ?? message;
  };
  stream.on("response", note);
  stream.on("trailers", note);
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > call.bytesMax + prefixBytes) {
      stream.close();
      done(new Error(`the answer has more than ${call.bytesMax} bytes`));
    } else chunks.push(chunk);
  });
  stream.on("end", () => {
    if (status !== undefined && status !== "0") done(new Error(`gRPC status ${status}: ${message}`));
    else finish(Buffer.concat(chunks), done);
  });
}

function finish(body: Buffer, done: (thrown: unknown, message?: Uint8Array) => void): void {
  if (body.length < prefixBytes || body.length !== prefixBytes + body.readUInt32BE(1)) {
    done(new Error(`the answer of ${body.length} bytes is not one whole message`));
  } else if (body[0] !== 0) done(new Error("the answer is compressed, which was not asked for"));
  else done(undefined, body.subarray(prefixBytes));
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function asFailure(call: GrpcCall, thrown: unknown): LeveeError {
  if (thrown instanceof LeveeError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new LeveeError("io-failed", `Cannot call ${call.method} on ${call.socketPath}: ${reason}`, { cause: thrown });
}
