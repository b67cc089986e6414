/**
 * `npm run release` on this tree, by a user without rights: made twice and compared, then used as docs/install.md says,
 * with the page's own lines, a registry of Debian, Helm and krew.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { version } from "../../src/base/version.ts";
import { helm } from "../peers/helm.ts";
import { krew } from "../peers/krew.ts";
import { builtFolder } from "../peers/peer.ts";
import { committedCopy } from "./release/committed-copy.ts";
import { OrdinaryUser } from "./release/ordinary-user.ts";
import { startRegistry, type Registry } from "./release/registry.ts";
import { run } from "./run.ts";

const root = resolve(import.meta.dir, "../..");
const page = readFileSync(join(root, "docs/install.md"), "utf8");
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
let base = "";
let checkout = "";
let release = "";
let registry: Registry;
let user: OrdinaryUser;

// Everything is built twice, on a machine that runs other tests too.
setDefaultTimeout(1_800_000);

function makeRelease(...args: readonly string[]): SpawnSyncReturns<string> {
  return user.bun(checkout, "scripts/release.ts", "--out", release, ...args);
}

/** Runs a line of the page in the folder of the release, with the programs that the release has. */
function shell(line: string): string {
  const script = `cd ${release} && PATH=${join(base, "bin")}:$PATH && ${line}`;
  return run("sh", "-ec", script);
}

/** The lines of the page that begin with a word, as a site would change them. */
function pageLine(start: string): string {
  const line = page.split("\n").find((each) => each.startsWith(start));
  if (line === undefined) throw new Error(`docs/install.md has no line that begins with ${start}`);
  return line
    .replaceAll("registry.example.com", registry.address)
    .replaceAll("0.1.0", version)
    .replaceAll("linux-amd64", `linux-${architecture}`)
    .replace("/usr/local/bin", join(base, "bin"))
    .replace("skopeo copy", "skopeo --insecure-policy copy --dest-tls-verify=false");
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "levee-release-test-"));
  for (const name of ["bin", "work"]) mkdirSync(join(base, name));
  release = join(base, "work", "release");
  checkout = committedCopy(join(base, "checkout"));
  user = new OrdinaryUser(base);
  for (const path of [checkout, join(base, "work")]) user.own(path);
  const { status, stdout, stderr } = makeRelease("--verify");
  if (status !== 0) throw new Error(`npm run release failed:\n${stdout}\n${stderr}`);
  expect(stdout).toContain("verify: two releases of the commit are the same, byte for byte");
  registry = await startRegistry(join(base, "registry"));
  shell(pageLine("tar -xzf"));
});

afterAll(async () => {
  await registry?.stop();
  rmSync(base, { recursive: true, force: true });
});

describe("npm run release", () => {
  test("leaves files whose sums are right", () => {
    expect(shell("sha256sum -c --quiet SHA256SUMS")).toBe("");
  });

  test("refuses a checkout with changes, and leaves the release as it was", () => {
    const before = statSync(release).ino;
    const stray = join(checkout, "src/stray.ts");
    writeFileSync(stray, "");
    try {
      const { status, stderr } = makeRelease();
      expect(status).toBe(1);
      expect(stderr).toContain("Cannot make a release: these files are not as in the last commit");
      expect(stderr).toContain("?? src/stray.ts");
    } finally {
      rmSync(stray);
    }
    expect(statSync(release).ino).toBe(before);
  });

  test.each([
    [["--url", "http://a.example"], "--url must be an https:// address"],
    [["--fast"], "Unknown option '--fast'"],
    [["more"], "Unexpected argument 'more'"],
  ])("refuses %j with the usage", (args, problem) => {
    const { status, stderr } = makeRelease(...args);
    expect({ status, told: stderr.includes(problem), usage: stderr.includes("Usage: npm run release") }).toEqual({
      status: 2,
      told: true,
      usage: true,
    });
  });
});

describe("a site with a registry of its own", () => {
  test("needs two lines of the page, and every image of its manifests is in the registry then", () => {
    shell(pageLine("skopeo copy --all --preserve-digests oci-archive:levee.oci.tar"));
    shell(pageLine("levee manifests . --registry"));
    for (const file of ["install.yaml", "multus-drop-in.yaml", "guard.yaml", "uninstall.yaml", "k3s.yaml"]) {
      const text = readFileSync(join(base, "work/site", file), "utf8");
      const images = new Set([...text.matchAll(/^ +(?:- )?image: (\S+)$/gmu)].map(([, image]) => image ?? ""));
      expect([...images]).toHaveLength(1);
      for (const image of images) {
        expect(image).toStartWith(`${registry.address}/site/levee@sha256:`);
        const raw = run("skopeo", "inspect", "--tls-verify=false", "--raw", `docker://${image}`);
        expect(JSON.parse(raw)).toMatchObject({
          manifests: [{ platform: { architecture: "amd64" } }, { platform: { architecture: "arm64" } }],
        });
      }
    }
  });

  test("gets the guard's image as well by levee mirror-list", () => {
    const script = shell(`levee mirror-list . --registry ${registry.address}/mirror`);
    shell(script.replaceAll("skopeo copy", "skopeo --insecure-policy copy --dest-tls-verify=false"));
    const { images } = JSON.parse(readFileSync(join(release, "release.json"), "utf8")) as {
      images: readonly { name: string; digest: string }[];
    }; // as the command wrote it
    for (const { name, digest } of images)
      run("skopeo", "inspect", "--tls-verify=false", "--raw", `docker://${registry.address}/mirror/${name}@${digest}`);
    expect(images).toHaveLength(2);
  });
});

describe("the chart", () => {
  test("passes lint, and renders the site's image from the values beside its manifests", async () => {
    const program = join(builtFolder(await helm()), "helm");
    // Helm takes an old one for granted where there is no cluster.
    const chart = [join(release, `levee-${version}.tgz`), "--kube-version", "1.30.0"];
    expect(run(program, "lint", "--strict", ...chart)).toContain("0 chart(s) failed");
    const values = join(base, "work/site/helm-values.yaml");
    const out = run(program, "template", "levee", ...chart, "-n", "levee-system", "-f", values);
    const images = [...out.matchAll(/^ +(?:- )?image: "?([^\s"]+)/gmu)].map(([, image]) => image ?? "");
    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toStartWith(`${registry.address}/site/levee@sha256:`);
  });
});

describe("the programs", () => {
  test("run, and find their shim beside them", () => {
    const versions = JSON.parse(shell("levee version -o json")) as Record<"cli" | "shim", Record<string, unknown>>; // ours
    expect(versions.cli["version"]).toBe(version);
    expect(versions.shim["software"]).toBe(`levee-shim ${version}`);
    expect(shell("kubectl-levee --version")).toContain(version);
  });

  test("krew installs them as kubectl levee", async () => {
    const own = { KREW_ROOT: join(base, "krew"), KREW_NO_UPGRADE_CHECK: "1", PATH: process.env["PATH"] ?? "" };
    const program = join(builtFolder(await krew()), "krew");
    const archive = join(release, `levee-${version}-linux-${architecture}.tar.gz`);
    const args = ["install", `--manifest=${join(release, "krew/levee.yaml")}`, `--archive=${archive}`];
    const { status, stderr } = spawnSync(program, args, { encoding: "utf8", env: own });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining("Installed plugin: levee") });
    expect(run(join(base, "krew/bin/kubectl-levee"), "--version")).toContain(version);
  });
});
