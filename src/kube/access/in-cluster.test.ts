import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiClient } from "../client/api-client.ts";
import * as pem from "./certificates.fixture.ts";
import { inClusterAccess } from "./in-cluster.ts";
import { ManualClock } from "../manual-clock.fixture.ts";
import { answer, refuse, ScriptedServer } from "../client/scripted-server.fixture.ts";

let folder: string;
let clock: ManualClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-account-"));
  clock = new ManualClock();
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Replaces the files as kubelet does: a new folder, and a link that is swapped. */
function project(generation: string, token: string, ca: string): void {
  mkdirSync(join(folder, generation));
  writeFileSync(join(folder, generation, "token"), `${token}\n`);
  writeFileSync(join(folder, generation, "ca.crt"), ca);
  symlinkSync(generation, join(folder, "new"));
  renameSync(join(folder, "new"), join(folder, "..data"));
  for (const name of ["token", "ca.crt"]) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(join("..data", name), join(folder, name));
  }
}

function access(host = "api.test"): ReturnType<typeof inClusterAccess> {
  return inClusterAccess({ host, port: "443", folder, clock });
}

test("inClusterAccess names the server, an IPv6 address in brackets", () => {
  expect(access().server).toBe("https://api.test:443");
  expect(access("fd00::1").server).toBe(`https://${"[fd00::1]"}:443`);
  expect(access("kubernetes.default.svc").server).toBe("https://kubernetes.default.svc:443");
});

test("inClusterAccess reads a rotated token, and keeps its trust while the authority is the same", async () => {
  project("1", "first", "CA");
  const subject = access();
  const before = await subject.credentials();
  expect(before).toEqual({ token: "first", tls: { ca: "CA" } });
  project("2", "second", "CA");
  expect((await subject.credentials()).token).toBe("first");
  await clock.advance(1000);
  const after = await subject.credentials();
  expect(after.token).toBe("second");
  expect(after.tls).toBe(before.tls);
});

test("inClusterAccess reads at once after a refusal, and takes over a new authority", async () => {
  project("1", "first", "CA");
  const subject = access();
  await subject.credentials();
  project("2", "second", "NEW");
  subject.renew();
  expect(await subject.credentials()).toEqual({ token: "second", tls: { ca: "NEW" } });
});

test("inClusterAccess keeps what it has while a file is missing or empty", async () => {
  project("1", "first", "CA");
  const subject = access();
  await subject.credentials();
  writeFileSync(join(folder, "1/token"), "");
  rmSync(join(folder, "1/ca.crt"));
  await clock.advance(60_000);
  expect(await subject.credentials()).toEqual({ token: "first", tls: { ca: "CA" } });
});

test("inClusterAccess names the file it cannot read", () => {
  expect(access().credentials()).rejects.toThrow(
    `Cannot read the credentials for the API server from ${folder}/ca.crt: ENOENT`,
  );
});

test("inClusterAccess and ApiClient live through a rotation of token and authority", async () => {
  project("1", "old", pem.otherAuthority);
  const tls = { key: pem.serverKey, cert: pem.serverCertificate };
  const server = await ScriptedServer.listen(
    ({ headers }, response) =>
      headers.authorization === "Bearer new" ? answer(response, "ok") : refuse(response, 401, "Unauthorized"),
    { tls },
  );
  const subject = inClusterAccess({ host: "127.0.0.1", port: String(server.port), folder, clock });
  const client = new ApiClient({ access: subject, clock });
  const ask = (): Promise<string> => client.call({ method: "GET", path: "/", deadlineMs: 5000 });
  expect(ask()).rejects.toMatchObject({ code: "api-unreachable" });
  project("2", "old", pem.authority);
  await clock.advance(1000);
  expect(ask()).rejects.toMatchObject({ status: 401 });
  project("3", "new", pem.authority);
  // The clock stands still: only the refusal makes it look.
  expect(await ask()).toBe("ok");
  client.close();
  await server.close();
});
