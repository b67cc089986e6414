import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";

/** Fields of a message: nested ones as bytes, texts as strings. */
type Fields = readonly (readonly [number, string | Uint8Array])[];

export function protoMessage(fields: Fields): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      const bytes = Buffer.from(value);
      return [varint(number * 8 + 2), varint(bytes.length), bytes];
    }),
  );
}

/** One pod of the kubelet's answer, with one container that has these devices. */
export function podMessage(namespace: string, name: string, devices: readonly (readonly [string, string[]])[]): Buffer {
  const container = protoMessage([
    [1, "main"],
    ...devices.map(
      ([resource, ids]) => [2, protoMessage([[1, resource], ...ids.map((id) => [2, id] as const)])] as const,
    ),
  ]);
  return protoMessage([
    [1, name],
    [2, namespace],
    [3, container],
  ]);
}

/** A kubelet's PodResources socket that answers every call in one way. */
export async function kubeletSocket(
  path: string,
  answer: (stream: ServerHttp2Stream, method: string) => void,
): Promise<Http2Server> {
  const server = createServer();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    answer(stream as ServerHttp2Stream, String(headers[":path"])); // the types forget that a server sent it
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

export function respond(stream: ServerHttp2Stream, message: Uint8Array, status = "0"): void {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status, "grpc-message": "said no" }));
  stream.end(Buffer.concat([prefix, message]));
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}
