import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { systemClock } from "../../base/clock.ts";
import { authority, otherAuthority } from "../../kube/access/certificates.fixture.ts";
import { failureOf } from "../failure-of.fixture.ts";
import { download, vendoredBytesMax, type DownloadOptions } from "./download.ts";
import { serveFiles, type SourceServer } from "./source-server.fixture.ts";

const text = "apiVersion: v1\nkind: A\n";
const never = new AbortController().signal;
const options: DownloadOptions = { clock: systemClock, interrupted: never };

function to(location: string, code = 302) {
  return (response: ServerResponse): void => void response.writeHead(code, { location }).end("moved");
}

/** Begins an answer, and cuts the connection before its end. */
function cut(headers: Readonly<Record<string, string>>) {
  return (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "text/plain", ...headers });
    response.write(text);
    setTimeout(() => response.socket?.destroy(), 50);
  };
}

function typed(type: string) {
  return (response: ServerResponse): void => void response.writeHead(200, { "content-type": type }).end(text);
}

let server: SourceServer;
let secret: SourceServer;

beforeAll(async () => {
  secret = await serveFiles("https", { "/a.yaml": text });
  server = await serveFiles("http", {
    "/a.yaml": text,
    "/there": to("/a.yaml", 308),
    "/far": to("/there", 301),
    "/loop": to("/loop", 307),
    "/out": to("http://example.com/a.yaml"),
    "/nowhere": (response) => void response.writeHead(302).end(),
    "/cut": cut({ "content-length": "1000" }),
    "/cut-chunk": cut({}),
    "/html": typed("text/html; charset=utf-8"),
    "/json": typed("application/json"),
    "/yaml": typed("application/yaml"),
    "/bytes": typed("application/octet-stream"),
    "/untyped": (response) => void response.writeHead(200).end(text),
    "/zipped": (response) =>
      void response.writeHead(200, { "content-type": "text/plain", "content-encoding": "br" }).end("x"),
    "/large": (response) => {
      response.writeHead(200, { "content-type": "text/plain", "content-length": String(vendoredBytesMax + 1) });
      response.write("x");
    },
    "/endless": (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = (): void => {
        if (!response.destroyed) response.write("x".repeat(1_048_576), () => setImmediate(more));
      };
      more();
    },
    "/silent": () => undefined,
    "/error": (response) => void response.writeHead(503).end(),
    "/secret": (response) => void response.writeHead(403).end(),
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await secret[Symbol.asyncDispose]();
});

async function from(path: string): Promise<string> {
  return new TextDecoder().decode(await download(new URL(path, server.url), options));
}

describe("download", () => {
  test.each(["/a.yaml", "/there", "/far", "/yaml", "/bytes", "/untyped"])("gives the bytes of %s", async (path) => {
    expect(await from(path)).toBe(text);
  });

  test.each([
    ["/missing", "the server answered 404"],
    ["/error", "the server answered 503"],
    ["/secret", "the server answered 403"],
    ["/nowhere", "the server answered 302 without saying where to go"],
    ["/loop", "it was redirected more than 5 times"],
    ["/out", "without TLS anybody on the way can change the file"],
    ["/html", "it is text/html; charset=utf-8 and not YAML"],
    ["/json", "it is application/json and not YAML"],
    ["/zipped", "the server compressed it (br)"],
    ["/large", `it has more than ${vendoredBytesMax} bytes`],
    ["/endless", `it has more than ${vendoredBytesMax} bytes`],
    ["/cut", "Cannot fetch"],
    ["/cut-chunk", "Cannot fetch"],
  ])("refuses %s", async (path, why) => {
    const failure = await failureOf(from(path));
    expect(failure.name).toBe("CommandFailure");
    expect(failure.message).toContain(why);
  });

  test("ends when a person interrupts it", async () => {
    const controller = new AbortController();
    const work = failureOf(download(new URL("/silent", server.url), { ...options, interrupted: controller.signal }));
    setTimeout(() => controller.abort(), 50);
    expect((await work).message).toStartWith("Interrupted while fetching http://127.0.0.1");
  });

  test("believes only a server whose certificate the given authority signed", async () => {
    const url = new URL("/a.yaml", secret.url);
    expect(new TextDecoder().decode(await download(url, { ...options, ca: authority }))).toBe(text);
    for (const ca of [undefined, otherAuthority]) {
      const failure = await failureOf(download(url, { ...options, ...(ca === undefined ? {} : { ca }) }));
      expect(failure.message).toStartWith(`Cannot fetch ${url.href}: `);
    }
    expect(secret.asked).toEqual(["/a.yaml"]);
  });

  test("says so when nothing listens", async () => {
    const gone = await serveFiles("http", {});
    await gone[Symbol.asyncDispose]();
    expect((await failureOf(download(new URL("/a.yaml", gone.url), options))).message).toContain("Cannot fetch");
  });
});
