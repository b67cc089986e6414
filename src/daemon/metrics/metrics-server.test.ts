import { afterEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { systemClock, type Cancel, type Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { MetricsServer, type MetricsServerOptions } from "./metrics-server.ts";
import type { HttpRequest } from "./http-exchange.ts";
import { until } from "../../base/until.fixture.ts";

const servers: MetricsServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

describe("MetricsServer", () => {
  test("answers GET with the body and HEAD without it", async () => {
    const { port, asked } = await serve();
    expect(await say(port, "GET /readyz?verbose&a=1 HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*Content-Length: 3\r\n[^]*Connection: close\r\n\r\nyes$/u,
    );
    expect(await say(port, "HEAD /readyz HTTP/1.0\r\n\r\n")).toMatch(/Content-Length: 3\r\n[^]*\r\n\r\n$/u);
    expect(asked).toEqual([
      { method: "GET", path: "/readyz", query: new Set(["verbose", "a"]) },
      { method: "HEAD", path: "/readyz", query: new Set([""]) },
    ]);
  });

  test("takes a head that comes in pieces, and reads no body", async () => {
    const { port } = await serve();
    expect(await say(port, "GET / HT", "TP/1.1\r\nA: b\r", "\n\r\n", "a body nobody wants")).toEndWith("yes");
  });

  test("answers a peer that has closed its side", async () => {
    const { port } = await serve();
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.end("GET / HTTP/1.1\r\n\r\n");
    await new Promise((resolve) => socket.on("end", resolve));
    expect(text).toEndWith("yes");
    socket.destroy();
  });

  test("sends an answer that is longer than the kernel takes at once", async () => {
    const body = "line\n".repeat(1_000_000);
    const { port } = await serve({ body });
    const socket = connect({ port, host: "127.0.0.1" });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.write("GET / HTTP/1.1\r\n\r\n");
    await systemClock.sleep(50);
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await closed;
    expect(bytes).toBeGreaterThan(body.length);
  });

  test.each([
    ["POST /readyz HTTP/1.1\r\n\r\n", "405 Method Not Allowed"],
    ["GET readyz HTTP/1.1\r\n\r\n", "400 Bad Request"],
    ["\u0016\u0003\u0001\r\n\r\n", "400 Bad Request"],
    [`GET / HTTP/1.1\r\nA: ${"b".repeat(20_000)}`, "431 Request Header Fields Too Large"],
  ])("refuses %p", async (text, status) => {
    const { port, asked, refused } = await serve();
    expect(await say(port, text)).toStartWith(`HTTP/1.1 ${status}\r\n`);
    expect(asked).toEqual([]);
    expect(refused).toEqual([Number(status.slice(0, 3))]);
  });
});

describe("MetricsServer and its connections", () => {
  test("hangs up on a silent peer", async () => {
    const clock = { ...systemClock, after: (_ms: number, then: () => void) => systemClock.after(20, then) };
    const { port } = await serve({ clock });
    expect(await say(port)).toBe("");
  });

  test("keeps 32 connections and answers the next, so that idle ones do not starve a probe", async () => {
    const { port } = await serve();
    let ended = 0;
    const idle = Array.from({ length: 40 }, () => connect({ port, host: "127.0.0.1" }).on("close", () => (ended += 1)));
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    expect(await say(port, "GET / HTTP/1.1\r\n\r\n")).toEndWith("yes");
    await until("nine connections have ended", () => ended === 9);
    for (const socket of idle) socket.destroy();
  });

  test("tries again while the port is taken, and logs it", async () => {
    const first = await serve();
    const warnings: unknown[] = [];
    let tries = 0;
    const after = (_ms: number, then: () => void): Cancel => {
      tries += 1;
      return systemClock.after(10, then);
    };
    const second = make({ port: first.port, clock: { ...systemClock, after }, warnings });
    await until("it has tried several times", () => tries > 3);
    expect(warnings).toEqual([{ port: first.port, reason: "EADDRINUSE" }]);
    expect(second.port).toBeUndefined();
    await servers[0]?.stop();
    await until("the port is its own", () => second.port === first.port);
    expect(await say(first.port, "GET / HTTP/1.1\r\n\r\n")).toEndWith("yes");
  });

  test("serves by IPv4 on a machine without IPv6, although Bun's error has no errno", async () => {
    const tried: string[] = [];
    const listen: MetricsServerOptions["listen"] = (hostname, port, socket) => {
      tried.push(hostname);
      if (hostname === "::") throw new Error("Failed to listen at ::");
      return Bun.listen({ hostname, port, data: undefined, socket });
    };
    const { port } = await serve({ reach: "any", listen });
    expect(tried).toEqual(["::", "0.0.0.0"]);
    expect(await say(port, "GET / HTTP/1.1\r\n\r\n")).toEndWith("yes");
  });

  test("waits for a port that is taken on all addresses instead of serving half of them", async () => {
    const first = await serve({ reach: "any" });
    const tried: string[] = [];
    const listen: MetricsServerOptions["listen"] = (hostname, port, socket) => {
      tried.push(hostname);
      return Bun.listen({ hostname, port, data: undefined, socket });
    };
    const clock = { ...systemClock, after: (_ms: number, then: () => void) => systemClock.after(10, then) };
    make({ reach: "any", port: first.port, listen, clock });
    await until("it has tried several times", () => tried.length > 2);
    expect(new Set(tried)).toEqual(new Set(["::"]));
  });
});

interface Facts extends Pick<MetricsServerOptions, "listen"> {
  readonly reach?: MetricsServerOptions["reach"];
  readonly port?: number;
  readonly body?: string;
  readonly clock?: Clock;
  readonly warnings?: unknown[];
  readonly asked?: HttpRequest[];
  readonly refused?: number[];
}

function make({
  port = 0,
  body = "yes",
  clock = systemClock,
  warnings = [],
  asked = [],
  refused = [],
  reach = "node",
  listen,
}: Facts): MetricsServer {
  const silent = (): void => undefined;
  const logger: Logger = { debug: silent, info: silent, error: silent, warn: (_what, fields) => warnings.push(fields) };
  const server = new MetricsServer({
    port,
    reach,
    ...(listen === undefined ? {} : { listen }),
    clock,
    logger,
    answer: (request) => {
      asked.push(request);
      return { status: 200, contentType: "text/plain", body };
    },
    onRefused: (status) => refused.push(status),
  });
  servers.push(server);
  return server;
}

async function serve(facts: Facts = {}): Promise<{ port: number; asked: HttpRequest[]; refused: number[] }> {
  const kept = { asked: [], refused: [] };
  const server = make({ ...facts, ...kept });
  await until("it listens", () => server.port !== undefined);
  return { port: server.port ?? 0, ...kept };
}

/** Sends the pieces one after the other and returns all that comes back until the other side hangs up. */
async function say(port: number, ...pieces: readonly string[]): Promise<string> {
  let text = "";
  const socket = connect({ port, host: "127.0.0.1" });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("error", () => undefined);
  for (const piece of pieces) {
    socket.write(piece);
    await systemClock.sleep(5);
  }
  await closed;
  return text;
}
