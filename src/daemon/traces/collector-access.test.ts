import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { authority, otherAuthority, serverCertificate, serverKey } from "../../kube/access/certificates.fixture.ts";
import { CollectorAccess } from "./collector-access.ts";
import { Collector } from "./collector.ts";

let folder: string;
let headersFile: string;
let caFile: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "collector-"));
  headersFile = join(folder, "headers");
  caFile = join(folder, "ca.crt");
});

afterEach(() => rm(folder, { recursive: true }));

function access(files: { headers?: string; ca?: string }): CollectorAccess {
  return new CollectorAccess({ headers: files.headers, ca: files.ca });
}

async function problemWith(text: string): Promise<string> {
  await writeFile(headersFile, text);
  return access({ headers: headersFile })
    .read()
    .then(
      () => "none",
      (thrown: unknown) => (thrown instanceof Error ? thrown.message : ""),
    );
}

describe("CollectorAccess", () => {
  test("without files there is nothing to say", async () => {
    expect(await access({}).read()).toEqual({ fields: "", tls: {} });
  });

  test("reads header fields anew each time, without comments and empty lines", async () => {
    const one = access({ headers: headersFile });
    await writeFile(headersFile, "# token of the site\nAuthorization: Bearer abc \r\n\nX-Scope-OrgID:shop");
    expect((await one.read()).fields).toBe("Authorization: Bearer abc\r\nX-Scope-OrgID: shop\r\n");
    await writeFile(headersFile, "Authorization: Bearer def\n");
    expect((await one.read()).fields).toBe("Authorization: Bearer def\r\n");
  });

  test.each([
    ["s3cret", "line 1 must be of the form Name: value"],
    ["A: b\nAuthor ization: s3cret", "line 2 must be of the form"],
    ["Authorization: s3cret\u0007", "line 1 must be of the form"],
    ["Authorization: schlüssel-s3cret", "line 1 must be of the form"],
    ["Authorization:", "line 1 must be of the form"],
    ["A: b\rEvil: s3cret", "line 1 must be of the form"],
    ["\nContent-Length: 7", "line 2 sets Content-Length, which Levee sets itself"],
    ["HOST: x", "line 1 sets HOST"],
    ["x".repeat(9_000), "Cannot read tracesHeadersFile"],
  ])("refuses %j without quoting a value", async (text, why) => {
    const problem = await problemWith(text);
    expect(problem).toContain(why);
    expect(problem).not.toContain("s3cret");
  });

  test("a file that is away, and one without a certificate, are named", async () => {
    expect(access({ headers: headersFile }).read()).rejects.toThrow("Cannot read tracesHeadersFile");
    expect(access({ ca: caFile }).read()).rejects.toThrow("Cannot read tracesCaFile");
    await writeFile(caFile, "hello");
    expect(access({ ca: caFile }).read()).rejects.toThrow("Cannot use tracesCaFile as it has no certificate in PEM");
  });

  test("the authority stays one object until it changes", async () => {
    const one = access({ ca: caFile });
    await writeFile(caFile, authority);
    const { tls } = await one.read();
    expect((await one.read()).tls).toBe(tls);
    await writeFile(caFile, otherAuthority);
    expect((await one.read()).tls).toEqual({ ca: otherAuthority });
  });
});

describe("Collector over https", () => {
  let server: Server;
  let seen: string[];

  beforeEach(async () => {
    seen = [];
    server = createServer({ cert: serverCertificate, key: serverKey }, (request, response) => {
      seen.push(String(request.headers.authorization));
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await writeFile(headersFile, "Authorization: Bearer abc\n");
  });

  afterEach(() => void server.close());

  function collector(): Collector {
    const { port } = server.address() as AddressInfo;
    const files = access({ headers: headersFile, ca: caFile });
    return new Collector(`https://127.0.0.1:${port}/v1/traces`, files, systemClock);
  }

  test("trusts the site's own authority, and shows the token", async () => {
    await writeFile(caFile, authority);
    expect(await collector().send("{}")).toMatchObject({ what: "taken" });
    expect(seen).toEqual(["Bearer abc"]);
  });

  test("shows no token to a server that the authority does not know", async () => {
    await writeFile(caFile, otherAuthority);
    const delivery = await collector().send("{}");
    expect(delivery).toMatchObject({ what: "later" });
    expect(delivery.why).toMatch(/certificate|issuer/u);
    expect(seen).toEqual([]);
  });

  test("tries again later while a file is away, and works once it is there", async () => {
    const one = collector();
    const delivery = await one.send("{}");
    expect(delivery).toMatchObject({ what: "later" });
    expect(delivery.why).toStartWith("Cannot read tracesCaFile");
    await writeFile(caFile, authority);
    expect(await one.send("{}")).toMatchObject({ what: "taken" });
  });
});
