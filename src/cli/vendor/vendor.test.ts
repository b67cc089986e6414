import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../../base/until.fixture.ts";
import { authority } from "../../kube/access/certificates.fixture.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { importerManifest, operatorManifest, serveFiles, type SourceServer } from "./source-server.fixture.ts";
import { parseVendorLock } from "./vendor-lock.ts";
import { hexSha256 } from "./vendored-header.ts";

const main = join(import.meta.dir, "../../main.ts");
const operatorPath = "apps/imports/operator.yaml";
const resourcePath = "apps/imports/importer.yaml";
const operator = operatorManifest("v1.0.0");

let root: string;
let server: SourceServer;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "levee-vendor-"));
  mkdirSync(join(root, ".git"));
  server = await serveFiles("http", {
    "/v1.0.0/operator.yaml": operator,
    "/v1.0.0/importer.yaml": importerManifest,
    "/v1.1.0/operator.yaml": operatorManifest("v1.1.0"),
    "/v1.1.0/importer.yaml": importerManifest,
    "/v2.0.0/operator.yaml": operatorManifest("v2.0.0"),
    "/page.yaml": "<!DOCTYPE html><title>operator.yaml</title>",
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

interface End {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function vendor(...argv: readonly string[]): Promise<End> {
  const shell = fakeShell({ argv: ["vendor", ...argv, "-C", root] });
  const status = await runCli(shell);
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

async function add(version = "v1.0.0", path = operatorPath): Promise<End> {
  return vendor(
    "add",
    `${server.url}/${version}/${path === operatorPath ? "operator" : "importer"}.yaml`,
    "--as",
    path,
  );
}

function here(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Every file of the repository, to show that nothing else was written. */
function files(): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}

describe("levee vendor add", () => {
  test("keeps the bytes verbatim below a header, and locks source, hash and images", async () => {
    const end = await add();
    expect(end).toMatchObject({ status: 0, err: "" });
    expect(end.out).toContain(`${operatorPath} added: ${operator.length} bytes, 3 objects, 3 images, sha256:`);
    expect(here(operatorPath)).toEndWith(operator);
    expect(here(operatorPath)).toStartWith(`# Vendored verbatim from ${server.url}/v1.0.0/operator.yaml\n# sha256:`);
    const [locked] = parseVendorLock(here("vendor.lock.yaml"));
    expect(locked).toEqual({
      path: operatorPath,
      url: `${server.url}/v1.0.0/operator.yaml`,
      sha256: hexSha256(Buffer.from(operator)),
      bytes: operator.length,
      images: [
        { image: "registry.example.com/imports/controller:v1.0.0" },
        { image: "registry.example.com/imports/operator:v1.0.0" },
        { image: `registry.example.com/imports/proxy@sha256:${"a".repeat(64)}` },
      ],
    });
    expect(files()).toEqual([operatorPath, "vendor.lock.yaml"]);
  });

  test("changes nothing the second time", async () => {
    await add();
    const before = here(operatorPath) + here("vendor.lock.yaml");
    expect((await add()).out).toContain(`${operatorPath} unchanged`);
    expect(here(operatorPath) + here("vendor.lock.yaml")).toBe(before);
  });

  test("adopts a file that was fetched by hand, and keeps its header", async () => {
    const theirs = "# =====\n# Imports: fills our disks\n# =====\n\n";
    put(operatorPath, theirs + operator);
    expect((await add()).out).toContain(`${operatorPath} adopted`);
    expect(here(operatorPath)).toMatch(
      /^# Vendored verbatim from .*\n# sha256:.*\n# =====\n# Imports: fills our disks\n# =====\n/u,
    );
    expect(here(operatorPath)).toEndWith(operator);
    expect((await vendor("verify")).status).toBe(0);
  });

  test("does not adopt a file that someone changed, and shows the first difference", async () => {
    const changed = `# ours\n${operator.replace('value: "1"', 'value: "5"')}`;
    put(operatorPath, changed);
    const end = await add();
    expect(end).toMatchObject({ status: 1, out: "" });
    expect(end.err).toContain("in more than its header (vendor-changed)");
    expect(end.err).toMatch(/\| here, line \d+: value: "5"\n {2}\| there, line \d+: value: "1"\n/u);
    expect(here(operatorPath)).toBe(changed);
    expect(files()).toEqual([operatorPath]);
  });

  test("takes bytes that a person carried here, if their hash is the one given", async () => {
    const carried = join(root, "carried.txt");
    put("carried.txt", operator);
    const url = "https://example.com/v1.0.0/operator.yaml";
    const take = (...more: readonly string[]): Promise<End> =>
      vendor("add", url, "--as", operatorPath, "--from", carried, ...more);
    expect(await take()).toMatchObject({ status: 2 });
    expect((await take("--sha256", "12")).err).toContain("64 hexadecimal digits");
    const wrong = await take("--sha256", "0".repeat(64));
    expect(wrong.err).toContain(`its SHA-256 is ${hexSha256(Buffer.from(operator))}, not ${"0".repeat(64)}`);
    expect(files()).toEqual(["carried.txt"]);
    expect((await take("--sha256", `sha256:${hexSha256(Buffer.from(operator)).toUpperCase()}`)).status).toBe(0);
    expect(parseVendorLock(here("vendor.lock.yaml"))).toMatchObject([{ url }]);
  });

  test("fetches over TLS with the site's own authority", async () => {
    await using secret = await serveFiles("https", { "/a.yaml": operator });
    put("ca.pem", authority);
    const order = ["add", `${secret.url}/a.yaml`, "--as", operatorPath];
    expect((await vendor(...order)).status).toBe(1);
    expect(files()).toEqual(["ca.pem"]);
    expect((await vendor(...order, "--ca", join(root, "ca.pem"))).status).toBe(0);
  });
});

describe("levee vendor add refuses, and writes nothing", () => {
  test.each([
    ["/page.yaml", operatorPath, "it is an HTML or XML page (vendor-content)"],
    ["/missing.yaml", operatorPath, "the server answered 404 (vendor-download)"],
    ["/v1.0.0/operator.yaml", "../operator.yaml", "it must not climb: no .., . or // (vendor-path)"],
    ["/v1.0.0/operator.yaml", "/etc/operator.yaml", "it must be relative to the repository (vendor-path)"],
    ["/v1.0.0/operator.yaml", "apps/operator.txt", "it must end in .yaml or .yml"],
  ])("%s as %s", async (page, path, why) => {
    const end = await vendor("add", server.url + page, "--as", path);
    expect(end).toMatchObject({ status: 1, out: "" });
    expect(end.err).toContain(why);
    expect(end.err).toContain("\n  try: ");
    expect(files()).toEqual([]);
  });

  test.each([
    ["--ca", "nowhere.pem", "there is no such file"],
    ["--ca", "nonsense.pem", "it has no certificate"],
    ["--from", "nowhere.yaml", "there is no such file"],
    ["--from", ".", "as it must be a regular file"],
  ])("%s %s", async (option, name, why) => {
    put("nonsense.pem", "nonsense\n");
    const hash = ["--sha256", "a".repeat(64)];
    const end = await vendor(
      "add",
      "https://example.com/a.yaml",
      "--as",
      operatorPath,
      option,
      join(root, name),
      ...hash,
    );
    expect(end).toMatchObject({ status: 2, out: "" });
    expect(end.err).toContain(`Cannot use ${option} ${join(root, name)}: `);
    expect(end.err).toContain(why);
    expect(files()).toEqual(["nonsense.pem"]);
  });

  test("http:// to another machine", async () => {
    const end = await vendor("add", "http://example.com/a.yaml", "--as", operatorPath);
    expect(end).toMatchObject({ status: 1, err: expect.stringContaining("without TLS anybody") as string });
  });

  test("a folder that is a link out of the repository", async () => {
    const outside = mkdtempSync(join(tmpdir(), "levee-vendor-outside-"));
    mkdirSync(join(root, "apps"));
    symlinkSync(outside, join(root, "apps/imports"));
    expect((await add()).err).toContain("apps/imports is a symbolic link");
    expect(readdirSync(outside)).toEqual([]);
    expect(server.asked).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  test("another source for a path that is locked, and other bytes from the same source", async () => {
    await add();
    const before = here(operatorPath) + here("vendor.lock.yaml");
    expect((await add("v1.1.0")).err).toContain(`try: levee vendor bump ${operatorPath} --url URL`);
    server.pages.set("/v1.0.0/operator.yaml", operator.replace("VERBOSITY", "VERBOSE"));
    expect((await add()).err).toContain("its bytes changed under one address");
    expect(here(operatorPath) + here("vendor.lock.yaml")).toBe(before);
  });

  test("a lock that cannot be read, before anything is fetched", async () => {
    put("vendor.lock.yaml", "version: 9\nfiles: []\n");
    expect((await add()).err).toContain("version must be 1: current value is 9 (vendor-lock)");
    expect(server.asked).toEqual([]);
  });

  test("a run that is killed while the file comes", async () => {
    let isHalf = false;
    server.pages.set("/half.yaml", (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write(operator.slice(0, 500), () => (isHalf = true));
    });
    const child = spawn(process.execPath, [
      main,
      "vendor",
      "add",
      `${server.url}/half.yaml`,
      "--as",
      operatorPath,
      "-C",
      root,
    ]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    await until("half of it came", () => isHalf);
    child.kill("SIGKILL");
    await ended;
    expect(files()).toEqual([]);
  });
});

describe("levee vendor verify", () => {
  test("says yes offline, and how images are named", async () => {
    await add();
    await server[Symbol.asyncDispose]();
    const end = await vendor("verify");
    expect(end).toMatchObject({ status: 0, err: "" });
    expect(end.out).toMatch(/^apps\/imports\/operator\.yaml +ok +1 by digest, 0 pinned, 2 by tag +http:/mu);
    const { success, files: found } = JSON.parse((await vendor("verify", "-o", "json")).out) as {
      success: boolean;
      files: readonly { result: string; images: readonly { by: string }[] }[];
    };
    expect({ success, results: found.map(({ result }) => result) }).toEqual({ success: true, results: ["ok"] });
    expect(found[0]?.images.map(({ by }) => by)).toEqual(["tag", "tag", "digest"]);
  });

  test("has nothing to say about a repository without vendored files", async () => {
    expect(await vendor("verify")).toEqual({ status: 0, out: "No vendored files\n", err: "" });
  });

  test("finds vendored files that the lock has lost, with one entry or as a whole", async () => {
    await add();
    await add("v1.0.0", "apps/imports/second.yaml");
    const lock = join(root, "vendor.lock.yaml");
    const [head = "", , second = ""] = readFileSync(lock, "utf8").split(/^(?= {2}- path:)/mu);
    writeFileSync(lock, `${head}${second}`);
    const end = await vendor("verify");
    expect(end.status).toBe(1);
    expect(end.err).toContain(
      `${operatorPath} has the header of a vendored file, and vendor.lock.yaml has no entry of it`,
    );
    expect(end.err).toContain(`levee vendor add ${server.url}/v1.0.0/operator.yaml --as ${operatorPath}`);
    // Only what was asked for is looked at.
    expect((await vendor("verify", "apps/imports/second.yaml")).status).toBe(0);
    rmSync(lock);
    expect((await vendor("verify")).err).toContain("2 of 2 vendored files must not be applied");
    // A file of their own that tells of one is none.
    writeFileSync(join(root, operatorPath), "kind: Mine\n# Vendored verbatim from https://a.test/x.yaml\n");
    rmSync(join(root, "apps/imports/second.yaml"));
    expect((await vendor("verify")).status).toBe(0);
  });

  const cases: readonly (readonly [string, (text: string) => string | undefined, string])[] = [
    ["a changed byte", (text) => text.replace('value: "1"', 'value: "2"'), "has other bytes than its source"],
    ["a line more at its end", (text) => `${text}---\n`, "has other bytes than its source"],
    ["a file that was cut off", (text) => text.slice(0, 200), "fewer than the"],
    ["an object above it", (text) => `apiVersion: v1\nkind: Secret\n---\n${text}`, "has more than comments above"],
    [
      "a header that is not ended",
      (text) => `#${text.slice(text.indexOf("# An operator"))}`,
      "has more than comments above",
    ],
    ["a missing file", () => undefined, "is not there"],
  ];
  test.each(cases)("finds %s", async (_what, change, why) => {
    await add();
    const changed = change(here(operatorPath));
    if (changed === undefined) rmSync(join(root, operatorPath));
    else put(operatorPath, changed);
    const end = await vendor("verify");
    expect(end.status).toBe(1);
    expect(end.err).toContain(why);
    expect(end.err).toContain("try: git");
    expect(end.err).toContain("(vendor-changed)");
  });

  test("lets a person change the header", async () => {
    await add();
    put(operatorPath, here(operatorPath).replace(/^# sha256.*\n/mu, "# Ask the storage team\n\n"));
    expect((await vendor("verify")).status).toBe(0);
  });

  test("finds a link in the place of the file", async () => {
    await add();
    put("elsewhere.yaml", here(operatorPath));
    rmSync(join(root, operatorPath));
    symlinkSync("../../elsewhere.yaml", join(root, operatorPath));
    const end = await vendor("verify", "-o", "json");
    expect(end).toMatchObject({ status: 1, out: expect.stringContaining('"result": "unsafe"') as string });
    expect(end.err).toContain("is a symbolic link");
  });

  test("finds an image that the lock does not list for the mirror", async () => {
    await add();
    const lock = here("vendor.lock.yaml");
    put("vendor.lock.yaml", lock.replace("      - image: registry.example.com/imports/controller:v1.0.0\n", ""));
    const end = await vendor("verify");
    expect(end.err).toContain("does not list registry.example.com/imports/controller:v1.0.0");
    put("vendor.lock.yaml", lock.replace("controller:v1.0.0", "controller:v1.0.0\n      - image: example.com/more:v1"));
    expect((await vendor("verify")).err).toContain("lists images that the file does not name");
  });

  test("refuses a path that is not in the lock", async () => {
    await add();
    expect(await vendor("verify", "apps/other")).toMatchObject({ status: 2 });
    expect(await vendor("verify", "apps/imports/")).toMatchObject({ status: 0 });
  });
});

describe("levee vendor bump", () => {
  test("moves all files of a folder to the new version, and keeps what people wrote", async () => {
    await add();
    await add("v1.0.0", resourcePath);
    put(operatorPath, `# Ask the storage team\n${here(operatorPath)}`);
    const end = await vendor("bump", "apps/imports", "--to", "1.1.0");
    expect(end).toMatchObject({ status: 0, err: "" });
    expect(end.out).toContain(`${operatorPath} bumped: `);
    expect(end.out).toContain(`${resourcePath} unchanged: `);
    expect(here(operatorPath)).toContain("# Ask the storage team\n");
    expect(here(operatorPath)).toEndWith(operatorManifest("v1.1.0"));
    expect(here(operatorPath)).not.toContain("v1.0.0");
    expect(parseVendorLock(here("vendor.lock.yaml")).map(({ url }) => url)).toEqual([
      `${server.url}/v1.1.0/importer.yaml`,
      `${server.url}/v1.1.0/operator.yaml`,
    ]);
    expect((await vendor("verify")).status).toBe(0);
  });

  test("moves no file when one of them cannot be had", async () => {
    await add();
    await add("v1.0.0", resourcePath);
    const before = [operatorPath, resourcePath, "vendor.lock.yaml"].map(here);
    expect(await vendor("bump", "apps/imports", "--to", "v2.0.0")).toMatchObject({ status: 1, out: "" });
    expect([operatorPath, resourcePath, "vendor.lock.yaml"].map(here)).toEqual(before);
  });

  test("does not lose a change that someone made in the file", async () => {
    await add();
    put(operatorPath, here(operatorPath).replace('value: "1"', 'value: "2"'));
    const end = await vendor("bump", operatorPath, "--to", "v1.1.0");
    expect(end.err).toContain("it was changed here, and the change would be lost (vendor-changed)");
    expect(here(operatorPath)).toContain('value: "2"');
  });

  test("finishes the work of a run that was killed before it wrote the lock", async () => {
    await add();
    const lock = here("vendor.lock.yaml");
    await vendor("bump", operatorPath, "--to", "v1.1.0");
    put("vendor.lock.yaml", lock);
    expect((await vendor("verify")).status).toBe(1);
    expect((await vendor("bump", operatorPath, "--to", "v1.1.0")).status).toBe(0);
    expect((await vendor("verify")).status).toBe(0);
  });

  test("refuses other bytes under the address that is locked", async () => {
    await add();
    server.pages.set("/v1.0.0/operator.yaml", operator.replace("VERBOSITY", "VERBOSE"));
    expect((await vendor("bump", operatorPath, "--to", "v1.0.0")).err).toContain("its bytes changed under one address");
  });

  test.each([
    [["--to", "new"], 'Cannot bump to "new": it is no version'],
    [[], "give either --to VERSION or --url URL"],
    [["--to", "v1.1.0", "--url", "https://example.com/x.yaml"], "give either --to VERSION or --url URL"],
  ])("refuses %j", async (more, why) => {
    await add();
    expect(await vendor("bump", operatorPath, ...more)).toMatchObject({
      status: 2,
      err: expect.stringContaining(why) as string,
    });
  });

  test("needs an address where the old one has no version", async () => {
    server.pages.set("/latest/operator.yaml", operator);
    await vendor("add", `${server.url}/latest/operator.yaml`, "--as", operatorPath);
    expect((await vendor("bump", operatorPath, "--to", "v1.1.0")).err).toContain("its address has no version");
    expect((await vendor("bump", operatorPath, "--url", `${server.url}/v1.1.0/operator.yaml`)).status).toBe(0);
  });
});

describe("levee vendor pin", () => {
  const digest = `sha256:${"c".repeat(64)}`;
  const image = "registry.example.com/imports/operator:v1.0.0";

  async function mirrorList(...more: readonly string[]): Promise<End> {
    const shell = fakeShell({ argv: ["mirror-list", join(root, "apps"), ...more] });
    const status = await runCli(shell);
    return { status, out: shell.stdout.text, err: shell.stderr.text };
  }

  test("says what a tag meant, so that levee mirror-list copies it by digest", async () => {
    await add();
    const before = await mirrorList("-o", "name");
    expect(before).toMatchObject({ status: 1, out: `registry.example.com/imports/proxy@sha256:${"a".repeat(64)}\n` });
    expect(before.err).toContain("levee vendor pin registry.example.com/imports/");
    expect((await vendor("pin", image, digest)).out).toContain(`${image} is ${digest} in ${operatorPath}`);
    expect((await vendor("verify")).out).toContain("1 by digest, 1 pinned, 1 by tag");
    await vendor("pin", image.replace("operator", "controller"), digest);
    const after = await mirrorList("--registry", "gitea.example.com/infra");
    expect(after).toMatchObject({ status: 0, err: "" });
    expect(after.out).toContain(
      `docker://registry.example.com/imports/operator@${digest} "docker://$REGISTRY/imports/operator:v1.0.0"`,
    );
    expect((await mirrorList("-o", "name")).out).toContain(`${image}@${digest}\n`);
  });

  test("is kept over a bump that keeps the image, and no longer", async () => {
    await add();
    await vendor("pin", image, digest);
    server.pages.set("/v1.0.1/operator.yaml", operator.replace("VERBOSITY", "VERBOSE"));
    await vendor("bump", operatorPath, "--to", "v1.0.1");
    expect(here("vendor.lock.yaml")).toContain(digest);
    await vendor("bump", operatorPath, "--to", "v1.1.0");
    expect(here("vendor.lock.yaml")).not.toContain(digest);
  });

  test.each([
    [image, "latest", "a digest is sha256:"],
    ["example.com/none:v1", digest, "no vendored file names it"],
    [`registry.example.com/imports/proxy@sha256:${"a".repeat(64)}`, digest, "the file names its digest itself"],
  ])("refuses %s as %s", async (name, to, why) => {
    await add();
    expect(await vendor("pin", name, to)).toMatchObject({ status: 2, err: expect.stringContaining(why) as string });
  });
});

test("levee vendor finds the repository from a folder below it, and says when there is none", async () => {
  await add();
  const run = (folder: string): Promise<{ code: number | null; out: string }> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [main, "vendor", "verify"], { cwd: folder });
      let out = "";
      child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (out += chunk.toString()));
      child.once("close", (code) => resolve({ code, out }));
    });
  expect(await run(join(root, "apps/imports"))).toMatchObject({ code: 0 });
  const nowhere = mkdtempSync(join(tmpdir(), "levee-vendor-nowhere-"));
  expect(await run(nowhere)).toMatchObject({
    code: 2,
    out: expect.stringContaining("Cannot find the repository") as string,
  });
  rmSync(nowhere, { recursive: true });
  expect(existsSync(join(root, operatorPath))).toBe(true);
});
