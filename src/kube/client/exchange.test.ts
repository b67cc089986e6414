import { afterEach, expect, test } from "bun:test";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { systemClock } from "../../base/clock.ts";
import { fixedAccess } from "../access/access.ts";
import { ApiClient } from "./api-client.ts";
import { until } from "../../base/until.fixture.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface RawServer {
  readonly url: string;
  /** What came over each connection, in the order in which they were made. */
  readonly seen: string[];
  readonly sockets: Socket[];
}

/** A server that answers each request with exactly these bytes, piece by piece. */
async function serveRaw(answerOf: (index: number) => readonly string[], isEnded = false): Promise<RawServer> {
  const seen: string[] = [];
  const sockets: Socket[] = [];
  let answered = 0;
  const server = createServer((socket) => {
    const index = seen.push("") - 1;
    sockets.push(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      seen[index] += bytes.toString("latin1");
      // One request is one packet here, unless it is large.
      if (!seen[index]?.endsWith("\r\n\r\n") && !seen[index]?.endsWith("}")) return;
      void send(socket, answerOf(answered++), isEnded);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, sockets };
}

async function send(socket: Socket, pieces: readonly string[], isEnded: boolean): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece, "latin1");
    await systemClock.sleep(2);
  }
  if (isEnded) socket.end();
}

function clientOf(url: string, token?: string): ApiClient {
  const client = new ApiClient({ access: fixedAccess(url, { token }), clock: systemClock });
  closers.unshift(() => client.close());
  return client;
}

function ask(client: ApiClient, deadlineMs = 2000): Promise<string> {
  return client.call({ method: "GET", path: "/x", deadlineMs });
}

async function outcomeOf(promise: Promise<string>): Promise<string> {
  return await promise.catch((thrown: unknown) => `failed: ${thrown instanceof Error ? thrown.message : ""}`);
}

const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n, everybod\r\n1\r\ny\r\n0\r\nX: y\r\n\r\n";

test("Exchange reads answers with a length, in chunks, until the end, empty, and after interim ones", async () => {
  const cases: [string, string][] = [
    ["HTTP/1.1 200 OK\r\ncontent-LENGTH:  5 \r\n\r\nhello", "hello"],
    [chunked, "hello, everybody"],
    ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", "1"],
    ["HTTP/1.1 204 No Content\r\n\r\n", ""],
    ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""],
  ];
  const server = await serveRaw((index) => [cases[index]?.[0] ?? ""]);
  const client = clientOf(server.url);
  for (const [, body] of cases) expect(await ask(client)).toBe(body);
  expect(server.seen.length).toBe(1);
  const ended = await serveRaw(() => ["HTTP/1.1 200 OK\r\n\r\nto the ", "end"], true);
  expect(await ask(clientOf(ended.url))).toBe("to the end");
});

test("Exchange reads an answer that comes byte by byte", async () => {
  const server = await serveRaw(() => chunked.split(""));
  expect(await ask(clientOf(server.url), 5000)).toBe("hello, everybody");
});

test("Exchange fails at bytes that are not an answer, and does not use the connection again", async () => {
  const head = "HTTP/1.1 200 OK\r\n";
  const cases: [string, string][] = [
    ["SSH-2.0-x\r\n\r\n", 'begins with "SSH-2.0-x"'],
    ["HTTP/2 200\r\n\r\n", "which is not HTTP/1"],
    ["HTTP/1.0 503 Unavailable\r\nContent-Length: 4\r\n\r\ngone", "answered 503 (gone)"],
    ["HTTP/1.1 101 Switching\r\n\r\n", "status 101"],
    [`${head}Content-Length: -1\r\n\r\n`, 'length is "-1"'],
    [`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`, "two lengths"],
    [`${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, "a length and chunks"],
    [`${head}Transfer-Encoding: gzip\r\n\r\n`, 'coded as "gzip"'],
    [`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, '"zz" where a chunk size must be'],
    [`${head}Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n`, "longer than its size says"],
    [`${head}Transfer-Encoding: chunked\r\n\r\n1${" ".repeat(5000)}`, "more than 4096 bytes"],
    [`${head}Transfer-Encoding: chunked\r\n\r\n0\r\n${`a: ${"b".repeat(4000)}\r\n`.repeat(20)}`, "trailer has more"],
    [`${head}X: ${"x".repeat(70_000)}`, "more than 65536 bytes"],
    [`${head}nonsense\r\n\r\n`, '"nonsense" where a header field must be'],
  ];
  const server = await serveRaw((index) => [cases[index]?.[0] ?? ""]);
  const client = clientOf(server.url);
  for (const [, words] of cases) expect(await outcomeOf(ask(client))).toContain(words);
  expect(server.seen.length).toBe(cases.length);
});

test("Exchange fails at an answer that ends early, in each of its forms", async () => {
  for (const text of [
    "",
    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
    chunked.slice(0, -4),
    chunked.slice(0, 60),
  ]) {
    const server = await serveRaw(() => [text], true);
    expect(await outcomeOf(ask(clientOf(server.url)))).toContain(
      "closed the connection before its answer was complete",
    );
  }
});

test("Exchange reconnects after Connection: close, after surplus bytes, and after bytes while idle", async () => {
  const one = "Content-Length: 1\r\n\r\n1";
  const answers = [`HTTP/1.1 200 OK\r\nConnection: close\r\n${one}`, `HTTP/1.1 200 OK\r\n${one}HTTP/1.1 200`];
  const server = await serveRaw((index) => [answers[index] ?? `HTTP/1.1 200 OK\r\n${one}`]);
  const client = clientOf(server.url);
  for (let count = 0; count < 3; count += 1) expect(await ask(client)).toBe("1");
  expect(server.seen.length).toBe(3);
  server.sockets[2]?.write("HTTP/1.1 408 Request Timeout\r\n\r\n");
  await until("the client has hung up", () => server.sockets[2]?.destroyed === true);
  expect(await ask(client)).toBe("1");
  expect(server.seen.length).toBe(4);
});

test("Exchange sends a body that the kernel does not take at once, to its last byte", async () => {
  const server = await serveRaw(() => ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"]);
  const body = `{"a":"${"é".repeat(3_000_000)}"}`;
  const sent = clientOf(server.url).call({ method: "PATCH", path: "/x", body, deadlineMs: 10_000 });
  expect(await sent).toBe("1");
  const [head = "", got = ""] = server.seen[0]?.split("\r\n\r\n") ?? [];
  expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
  expect(Buffer.from(got, "latin1").toString("utf8") === body).toBe(true);
});

test("Exchange never writes a path or a token that would be more than one", async () => {
  const server = await serveRaw(() => []);
  const client = clientOf(server.url);
  for (const path of ["/a b", "/a\r\nX: y", "/ä", "a"]) {
    const call = client.call({ method: "GET", path, deadlineMs: 500 });
    expect(await outcomeOf(call)).toContain("is not a valid request target");
  }
  expect(await outcomeOf(ask(clientOf(server.url, "a\r\nX: y"), 500))).toContain("the token has characters");
  expect(server.seen.length).toBe(0);
});

test("Exchange has sixteen connections for requests, however many watches there are", async () => {
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const server = await serveRaw((index) => (index < 20 ? [head] : ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"]));
  const client = clientOf(server.url);
  const stop = new AbortController();
  const watch = async (): Promise<string> => {
    const options = { signal: stop.signal, idleMs: 5_000 };
    for await (const line of client.lines("/watch", options)) return line;
    return "ended";
  };
  const watches = Array.from({ length: 20 }, () => outcomeOf(watch()));
  await until("all watch", () => server.seen.length === 20);
  expect(await outcomeOf(ask(client, 2_000))).toBe("ok");
  stop.abort(new Error("enough"));
  await Promise.all(watches);
});

test("Exchange keeps to sixteen connections, lets the others wait, and forgets those that gave up", async () => {
  const server = await serveRaw(() => []);
  const client = clientOf(server.url);
  const early = Array.from({ length: 16 }, () => outcomeOf(ask(client, 300)));
  const impatient = outcomeOf(ask(client, 50));
  const patient = outcomeOf(ask(client, 500));
  expect(await impatient).toContain("no answer came within 50 ms");
  expect(server.seen.length).toBe(16);
  await Promise.all([...early, patient]);
  expect(server.seen.length).toBe(17);
});
