import { afterEach, expect, test } from "bun:test";
import { createServer, type AddressInfo, type Server } from "node:net";
import { systemClock } from "../../base/clock.ts";
import { fixedAccess, type KubeAccess } from "../access/access.ts";
import { ApiClient } from "./api-client.ts";
import { KubeError } from "./api.ts";
import * as pem from "../access/certificates.fixture.ts";
import { answer, refuse, ScriptedServer, type Script, type ScriptedTls } from "./scripted-server.fixture.ts";
import { until } from "../../base/until.fixture.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serve(script: Script, options: { host?: string; tls?: ScriptedTls } = {}): Promise<ScriptedServer> {
  const server = await ScriptedServer.listen(script, options);
  closers.push(() => server.close());
  return server;
}

function clientOf(access: KubeAccess): ApiClient {
  const client = new ApiClient({ access, clock: systemClock });
  closers.unshift(() => client.close());
  return client;
}

function get(client: ApiClient, path = "/x", deadlineMs = 5000): Promise<string> {
  return client.call({ method: "GET", path, deadlineMs });
}

async function failureOf(promise: Promise<unknown>): Promise<KubeError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof KubeError) return thrown;
  throw new Error(`expected a KubeError: ${String(thrown)}`);
}

async function readLines(client: ApiClient, idleMs = 2000, signal = new AbortController().signal): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of client.lines("/watch", { signal, idleMs })) lines.push(line);
  return lines;
}

test("ApiClient sends method, path, token, body and its type, and returns the answer's text", async () => {
  const server = await serve((_request, response) => answer(response, { fine: "é" }));
  const client = clientOf(fixedAccess(`${server.url}/behind/`, { token: "secret" }));
  const body = '{"metadata":{"annotations":{"ä":"1"}}}';
  const contentType = "application/merge-patch+json";
  expect(await client.call({ method: "PATCH", path: "/api?x=1", body, contentType, deadlineMs: 5000 })).toBe(
    '{"fine":"é"}',
  );
  expect(server.requests[0]).toMatchObject({ method: "PATCH", body });
  expect(server.paths()).toEqual(["/behind/api?x=1"]);
  expect(server.requests[0]?.headers).toMatchObject({ "authorization": "Bearer secret", "content-type": contentType });
  expect(server.requests[0]?.headers["user-agent"]).toMatch(/^levee\/\d/);
});

test("ApiClient uses one connection again", async () => {
  const server = await serve((_request, response) => answer(response, {}));
  const client = clientOf(fixedAccess(server.url));
  for (let count = 0; count < 3; count += 1) await get(client);
  expect(new Set(server.requests.map(({ socket }) => socket.remotePort)).size).toBe(1);
});

test("ApiClient makes an error of a refusal, with Kubernetes' words and the time to stay away", async () => {
  const later = new Date(Date.now() + 30_000).toUTCString();
  const headers = ["7", later, "never", "86400"].map((value) => ({ "Retry-After": value }));
  const server = await serve((_request, response) => refuse(response, 429, "TooManyRequests", headers.shift()));
  const client = clientOf(fixedAccess(server.url));
  const first = await failureOf(get(client, "/api?limit=50"));
  expect(first).toMatchObject({ code: "api-refused", status: 429, reason: "TooManyRequests", retryAfterMs: 7000 });
  expect(first.message).toBe(`Cannot GET ${server.url}/api: the API server answered 429 (TooManyRequests it is)`);
  expect((await failureOf(get(client))).retryAfterMs).toBeWithin(28_000, 30_001);
  expect((await failureOf(get(client))).retryAfterMs).toBeUndefined();
  expect((await failureOf(get(client))).retryAfterMs).toBe(300_000);
});

test("ApiClient shows the beginning of an answer that is not Kubernetes' own", async () => {
  const server = await serve((_request, response) => answer(response, `<h1>\n gateway </h1>${"x".repeat(5000)}`, 502));
  const failure = await failureOf(get(clientOf(fixedAccess(server.url))));
  expect(failure).toMatchObject({ status: 502, reason: "" });
  expect(failure.message).toContain("<h1> gateway </h1>xxx");
  expect(failure.message.length).toBeLessThan(500);
});

test("ApiClient reads its token again after a 401, and tries once more", async () => {
  const tokens = ["old", "new", "newer"];
  const access: KubeAccess = {
    server: "",
    credentials: () => Promise.resolve({ token: tokens[0], tls: noTls }),
    renew: () => void tokens.shift(),
  };
  const noTls = {};
  const server = await serve((request, response) => {
    if (request.headers.authorization === "Bearer new") answer(response, "ok");
    else refuse(response, 401, "Unauthorized");
  });
  const client = clientOf({ ...access, server: server.url });
  expect(await get(client)).toBe("ok");
  tokens.shift();
  expect((await failureOf(get(client))).status).toBe(401);
  expect(server.requests.length).toBe(4);
});

test("ApiClient repeats a GET once whose pooled connection had died, and nothing but a GET", async () => {
  const server = await serve((request, response) => {
    if (server.requests.length % 2 === 0) request.socket.destroy();
    else answer(response, "ok");
  });
  const client = clientOf(fixedAccess(server.url));
  expect(await get(client)).toBe("ok");
  expect(await get(client)).toBe("ok");
  expect(server.requests.length).toBe(3);
  const failure = await failureOf(client.call({ method: "PATCH", path: "/x", body: "{}", deadlineMs: 5000 }));
  expect(failure).toMatchObject({ code: "api-unreachable", status: undefined });
  expect(server.requests.length).toBe(4);
});

test("ApiClient does not repeat a GET that was cut on a new connection", async () => {
  const server = await serve((request) => request.socket.destroy());
  const failure = await failureOf(get(clientOf(fixedAccess(server.url))));
  expect(failure.message).toContain("the server closed the connection before its answer was complete (ECONNRESET)");
  expect(server.requests.length).toBe(1);
});

test("ApiClient gives up on an answer that does not come, or not to its end", async () => {
  const server = await serve((request, response) => {
    if (request.url.pathname === "/half") response.write("half");
  });
  const client = clientOf(fixedAccess(server.url));
  for (const path of ["/never", "/half"]) {
    const failure = await failureOf(get(client, path, 60));
    expect(failure.message).toBe(`Cannot GET ${server.url}${path}: no answer came within 60 ms`);
  }
});

test("ApiClient gives up on a server that accepts and never shakes hands", async () => {
  const mute = createServer((socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  closers.push(() => closeMute(mute));
  const client = clientOf(fixedAccess(`https://127.0.0.1:${(mute.address() as AddressInfo).port}`));
  expect((await failureOf(get(client, "/x", 80))).message).toContain("no answer came within 80 ms");
});

function closeMute(server: Server): void {
  server.close();
}

test("ApiClient cuts off an answer that is too large, and says so", async () => {
  const server = await serve((_request, response) => answer(response, "x".repeat(13_000_000)));
  const failure = await failureOf(get(clientOf(fixedAccess(server.url))));
  expect(failure).toMatchObject({ code: "api-unreachable", reason: "ResponseTooLarge" });
});

test("ApiClient passes on why its caller gave up", async () => {
  const server = await serve(() => undefined);
  const controller = new AbortController();
  const reason = new Error("the shim is gone");
  const call = clientOf(fixedAccess(server.url)).call({
    method: "GET",
    path: "/",
    deadlineMs: 5000,
    signal: controller.signal,
  });
  setTimeout(() => controller.abort(reason), 20);
  expect(await call.catch((thrown: unknown) => thrown)).toBe(reason);
});

test("ApiClient says that the connection is refused", async () => {
  const server = await ScriptedServer.listen(() => undefined);
  const { url } = server;
  await server.close();
  const failure = await failureOf(get(clientOf(fixedAccess(url))));
  expect(failure.message).toContain("ECONNREFUSED");
});

test("ApiClient keeps its idle connections when a caller has lost interest: nothing is wrong with them", async () => {
  const server = await serve((request, response) => {
    if (request.url.pathname !== "/silent") answer(response, "{}");
  });
  const client = clientOf(fixedAccess(server.url));
  await Promise.all([get(client), get(client)]);
  const controller = new AbortController();
  const silent = client.call({ method: "GET", path: "/silent", deadlineMs: 5000, signal: controller.signal });
  await until("the silent request is there", () => server.requests.length === 3);
  controller.abort(new Error("found elsewhere"));
  await silent.catch(() => undefined);
  await get(client);
  const [first, second, , last] = server.requests.map(({ socket }) => socket);
  expect(last === first || last === second).toBe(true);
});

test("ApiClient.lines yields whole lines, however they are cut into packets", async () => {
  const bytes = Buffer.from('{"name":"é"}\n\n{"b":2}\n{"c":"💥"}\n');
  const server = await serve((_request, response) => {
    let at = 0;
    const step = (): void => {
      if (at >= bytes.length) response.end();
      else response.write(bytes.subarray(at, (at += 9)), () => setTimeout(step, 1));
    };
    step();
  });
  expect(await readLines(clientOf(fixedAccess(server.url)))).toEqual(['{"name":"é"}', '{"b":2}', '{"c":"💥"}']);
});

test("ApiClient.lines throws for a line without its end, for a cut, for silence and for a refusal", async () => {
  const server = await serve((_request, response) => {
    const scripts = [
      () => response.end('{"a":1}\n{"b'),
      () => response.write('{"a":1}\n', () => setTimeout(() => response.destroy(), 10)),
      () => response.write('{"a":1}\n'),
      () => refuse(response, 410, "Expired"),
      () => undefined,
    ];
    scripts[server.requests.length - 1]?.();
  });
  const client = clientOf(fixedAccess(server.url));
  const failures: string[] = [];
  for (let count = 0; count < 5; count += 1) failures.push((await failureOf(readLines(client, 80))).message);
  const doing = `Cannot GET ${server.url}/watch`;
  expect(failures).toEqual([
    `${doing}: the connection ended in the middle of a line`,
    `${doing}: the server closed the connection before its answer was complete (ECONNRESET)`,
    `${doing}: no data came for 80 ms`,
    `${doing}: the API server answered 410 (Expired it is)`,
    `${doing}: no data came for 80 ms`,
  ]);
});

test("ApiClient.lines takes the longest line a server can send, and says of a longer one that it is too long", async () => {
  // 1.5 MiB of `<`, as the server writes them.
  const longest = `"${"\\u003c".repeat(1_572_864)}"`;
  const server = await serve((_request, response) => {
    response.write(`${longest}\n`);
    for (let count = 0; count < 13; count += 1) response.write("x".repeat(1_048_576));
  });
  const lines: string[] = [];
  const reading = (async (): Promise<void> => {
    const watch = clientOf(fixedAccess(server.url)).lines("/watch", {
      signal: new AbortController().signal,
      idleMs: 5000,
    });
    for await (const line of watch) lines.push(line);
  })();
  expect(await failureOf(reading)).toMatchObject({ reason: "ResponseTooLarge", status: undefined });
  expect(lines.map(({ length }) => length)).toEqual([longest.length]);
});

test("ApiClient.lines tells when the watch is accepted, ends with its signal, and closes when its reader stops", async () => {
  const server = await serve((_request, response) => response.write('{"a":1}\n'));
  const client = clientOf(fixedAccess(server.url));
  const controller = new AbortController();
  const reason = new Error("closing");
  let opened = 0;
  const onOpen = (): void => {
    opened += 1;
    setTimeout(() => controller.abort(reason), 20);
  };
  const read = async (): Promise<void> => {
    for await (const line of client.lines("/watch", { signal: controller.signal, idleMs: 2000, onOpen }))
      expect(line).toBe('{"a":1}');
  };
  expect(await read().catch((thrown: unknown) => thrown)).toBe(reason);
  expect(opened).toBe(1);
  for await (const line of client.lines("/watch", { signal: new AbortController().signal, idleMs: 2000 })) {
    expect(line).toBe('{"a":1}');
    break;
  }
  while (server.requests.some(({ socket }) => !socket.destroyed)) await systemClock.sleep(5);
});

const tls = { key: pem.serverKey, cert: pem.serverCertificate };

test("ApiClient trusts the authority it is given and no other", async () => {
  const server = await serve((_request, response) => answer(response, "ok"), { tls });
  const ask = (options: object): Promise<string> => get(clientOf(fixedAccess(server.url, { tls: options })));
  expect(await ask({ ca: pem.authority })).toBe("ok");
  expect((await failureOf(ask({ ca: pem.otherAuthority }))).message).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  expect((await failureOf(ask({ ca: pem.authority, servername: "elsewhere" }))).message).toContain("elsewhere");
  expect(await ask({ ca: pem.authority, servername: "kubernetes" })).toBe("ok");
  expect(await ask({ rejectUnauthorized: false })).toBe("ok");
});

test("ApiClient asks a server by name with any certificate only when it is told to", async () => {
  const server = await serve((_request, response) => answer(response, "ok"), { tls });
  const named = `https://localhost:${server.port}`;
  const ask = (options: object): Promise<string> => get(clientOf(fixedAccess(named, { tls: options })));
  expect(await ask({ rejectUnauthorized: false })).toBe("ok");
  expect(await ask({ rejectUnauthorized: false, servername: "elsewhere" })).toBe("ok");
  expect((await failureOf(ask({}))).code).toBe("api-unreachable");
  expect((await failureOf(ask({ ca: pem.otherAuthority }))).code).toBe("api-unreachable");
});

test("ApiClient reconnects when its certificates change, and sends its own", async () => {
  const strict = { ...tls, ca: pem.authority, requestCert: true, rejectUnauthorized: true };
  const server = await serve((_request, response) => answer(response, "ok"), { tls: strict });
  let now: object = { ca: pem.authority };
  const access: KubeAccess = {
    server: server.url,
    credentials: () => Promise.resolve({ token: undefined, tls: now }),
    renew: () => undefined,
  };
  const client = clientOf(access);
  expect((await failureOf(get(client))).code).toBe("api-unreachable");
  now = { ca: pem.authority, cert: pem.clientCertificate, key: pem.clientKey };
  expect(await get(client)).toBe("ok");
});

test("ApiClient reaches a server by its IPv6 address", async () => {
  const server = await serve((_request, response) => answer(response, "ok"), { tls, host: "::1" });
  const access = fixedAccess(`https://${"[::1]"}:${server.port}`, { tls: { ca: pem.authority } });
  expect(await get(clientOf(access))).toBe("ok");
});
