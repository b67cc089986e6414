import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import * as pem from "../../kube/access/certificates.fixture.ts";
import { ScriptedServer, type Script } from "../../kube/client/scripted-server.fixture.ts";
import { urlProblem } from "./ask-url.ts";

let folder: string;
let server: ScriptedServer;
let status = 200;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "levee-verify-url-"));
  writeFileSync(join(folder, "ca.crt"), pem.authority);
  status = 200;
  const tls = { key: pem.serverKey, cert: pem.serverCertificate };
  const script: Script = (_request, response) => {
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {});
    response.end("<html>");
  };
  server = await ScriptedServer.listen(script, { tls });
});

afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

function ask(path: string, wanted = 200, more: object = { ca: join(folder, "ca.crt") }): Promise<string | undefined> {
  const { signal } = new AbortController();
  return urlProblem(systemClock, { url: `${server.url}${path}`, status: wanted, ...more }, signal);
}

test("urlProblem asks for the path and the query by TLS, and takes the expected status only", async () => {
  expect(await ask("/health?full=1")).toBeUndefined();
  expect(server.paths()).toEqual(["/health?full=1"]);
  status = 503;
  expect(await ask("/")).toBe("it answered with status 503, not 200");
  expect(await ask("/", 503)).toBeUndefined();
});

test("urlProblem follows no redirect", async () => {
  status = 302;
  expect(await ask("/")).toBe("it answered with status 302, not 200");
  expect(server.requests.length).toBe(1);
  expect(await ask("/", 302)).toBeUndefined();
});

test("urlProblem trusts the given authority only, and says which file is missing", async () => {
  expect(await ask("/", 200, {})).not.toBeUndefined();
  expect(server.requests.length).toBe(0);
  expect(await ask("/", 200, { ca: join(folder, "absent.crt") })).toContain("absent.crt cannot be read");
});

test("urlProblem gives the reason when nobody answers", async () => {
  const { signal } = new AbortController();
  expect(await urlProblem(systemClock, { url: "http://127.0.0.1:1/", status: 200 }, signal)).not.toBeUndefined();
});
