import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { answer, ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { CollectorAccess } from "./collector-access.ts";
import { Collector } from "./collector.ts";

let server: ScriptedServer;

beforeEach(async () => {
  server = await ScriptedServer.listen((_request, response) => answer(response, {}));
});

afterEach(() => server.close());

function access(): CollectorAccess {
  return new CollectorAccess({ headers: undefined, ca: undefined });
}

function collector(url = `${server.url}/v1/traces`): Collector {
  return new Collector(url, access(), systemClock);
}

describe("Collector", () => {
  test("posts JSON to the path of the endpoint and closes the connection", async () => {
    expect(await collector().send('{"resourceSpans":[]}')).toEqual({ what: "taken", rejectedSpans: 0, why: "" });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", body: '{"resourceSpans":[]}' });
    expect(request?.url.pathname).toBe("/v1/traces");
    expect(request?.headers).toMatchObject({ "content-type": "application/json", "content-length": "20" });
    expect(request?.headers.authorization).toBeUndefined();
    await new Promise((resolve) =>
      request?.socket.closed === true ? resolve(0) : request?.socket.once("close", resolve),
    );
  });

  test("sends a large batch whole, in any language", async () => {
    const body = JSON.stringify({ text: "Żółć 网络 ".repeat(40_000) });
    expect(await collector().send(body)).toMatchObject({ what: "taken" });
    expect(server.requests[0]?.body).toBe(body);
  });

  test("hears which spans were rejected", async () => {
    const partialSuccess = { rejectedSpans: "3", errorMessage: "too\nold" };
    server.script = (_request, response) => answer(response, { partialSuccess });
    expect(await collector().send("{}")).toEqual({ what: "taken", rejectedSpans: 3, why: "too old" });
  });

  test.each(["{}", "", " \n", '{"partialSuccess":null}', '{"partialSuccess":{"rejectedSpans":"x"}}', "[]", "7"])(
    "counts status 200 with %j as taken",
    async (body) => {
      server.script = (_request, response) => answer(response, body);
      expect(await collector().send("{}")).toEqual({ what: "taken", rejectedSpans: 0, why: "" });
    },
  );

  test("a web page is no collector", async () => {
    server.script = (_request, response) => answer(response, `<html>\u001b[2J${"x".repeat(900)}`);
    const delivery = await collector().send("{}");
    expect(delivery).toMatchObject({ what: "refused" });
    expect(delivery.why).toStartWith("status 200, but the answer is not of OTLP: <html>xxx");
    expect(delivery.why.length).toBeLessThan(210);
  });

  test.each([400, 401, 404, 413, 500, 301, 204])("status %d is a refusal", async (status) => {
    server.script = (_request, response) => answer(response, status === 204 ? "" : "no", status);
    expect(await collector().send("{}")).toMatchObject({ what: "refused" });
  });

  test.each([
    ["7", 7_000],
    ["0", 0],
    ["100000", 300_000],
    ["soon", undefined],
    ["-5", undefined],
  ])("asks again after the Retry-After %j", async (retryAfter, afterMs) => {
    for (const status of [429, 502, 503, 504]) {
      server.script = (_request, response) => answer(response, "", status, { "Retry-After": retryAfter });
      expect(await collector().send("{}")).toEqual({ what: "later", afterMs, why: `status ${status}` });
    }
  });

  test("reads a Retry-After that is a date", async () => {
    const clock = new ManualClock();
    const date = new Date(clock.wallMs() + 20_000).toUTCString();
    server.script = (_request, response) => answer(response, "", 503, { "Retry-After": date });
    const sending = new Collector(`${server.url}/v1/traces`, access(), clock).send("{}");
    expect(await sending).toMatchObject({ what: "later", afterMs: 20_000 });
  });

  test("one that is away is tried again later", async () => {
    const gone = collector();
    await server.close();
    expect(await gone.send("{}")).toMatchObject({ what: "later", afterMs: undefined });
  });

  test("one whose name cannot be found is tried again later", async () => {
    expect(await collector("http://collector.invalid:4318/v1/traces").send("{}")).toMatchObject({ what: "later" });
  });

  test("one with a certificate that nobody vouches for is not trusted", async () => {
    // A plain server where TLS is expected.
    const delivery = await collector(server.url.replace("http:", "https:")).send("{}");
    expect(delivery).toMatchObject({ what: "later" });
    expect(server.requests).toEqual([]);
  });
});

describe("Collector of bytes", () => {
  let raw: Server;
  const peers: Socket[] = [];

  async function answering(text: string | undefined): Promise<string> {
    raw = createServer((peer) => {
      peers.push(peer);
      peer.on("error", () => undefined);
      peer.once("data", () => (text === undefined ? undefined : peer.end(text)));
    });
    await new Promise<void>((resolve) => raw.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(raw.address() as AddressInfo).port}/v1/traces`;
  }

  afterEach(() => {
    for (const peer of peers.splice(0)) peer.destroy();
    raw.close();
  });

  test.each([
    "\u0000\u0001\u0002 rubbish\r\n\r\n",
    "HTTP/1.1 abc\r\n\r\n",
    "",
    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
  ])("an answer of %j is tried again later", async (text) => {
    expect(await collector(await answering(text)).send("{}")).toMatchObject({ what: "later" });
  });

  test("an endless answer is cut", async () => {
    const endless = `HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n${"x".repeat(100_000)}`;
    expect(await collector(await answering(endless)).send("{}")).toMatchObject({ what: "later" });
  });

  test("one that never answers is given up after ten seconds", async () => {
    const clock = new ManualClock();
    const sending = new Collector(await answering(undefined), access(), clock).send("{}");
    await new Promise((resolve) => setTimeout(resolve, 50));
    await clock.advance(10_000);
    expect(await sending).toEqual({ what: "later", afterMs: undefined, why: "no answer within 10000 ms" });
  });
});
