import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { version } from "../../src/base/version.ts";
import { readRelease } from "../../src/cli/registry/release-facts.ts";
import { siteManifests } from "../../src/cli/registry/site-manifests.ts";
import { builtHelm } from "../../test/peers/helm.ts";
import { unreleasedMark } from "../deploy/unreleased.ts";
import { ReleaseFolder } from "./release-folder.ts";
import { someParts } from "./some-parts.fixture.ts";
import { differences } from "./verify-release.ts";
import { writeRelease, type Parts } from "./write-release.ts";

let base = "";
let release = "";
let parts: Parts;
const helm = builtHelm();
if (helm === undefined) console.warn("release: the chart is not tried, helm is not built (npm run e2e builds it)");

function written(name: string): { readonly place: string; readonly parts: Parts } {
  mkdirSync(join(base, name));
  const place = join(base, name, "release");
  const made = someParts(join(base, name));
  using folder = new ReleaseFolder(place);
  writeRelease(folder, made);
  folder.finish();
  return { place, parts: made };
}

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: release });
  expect({ program, status, stderr }).toEqual({ program, status: 0, stderr: "" });
  return stdout;
}

function text(path: string): string {
  return readFileSync(join(release, path), "utf8");
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

function sha256(path: string): string {
  return createHash("sha256")
    .update(readFileSync(join(release, path)))
    .digest("hex");
}

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "levee-write-release-"));
  ({ place: release, parts } = written("a"));
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("writeRelease", () => {
  test("gives the same bytes in every folder", () => {
    const { place } = written("another-folder-with-a-longer-name");
    expect(filesOf(place)).toEqual(filesOf(release));
    for (const path of filesOf(release))
      expect(readFileSync(join(place, path)).equals(readFileSync(join(release, path)))).toBe(true);
    expect(differences(text("SHA256SUMS"), readFileSync(join(place, "SHA256SUMS"), "utf8"))).toEqual([]);
  });

  test("lists every file in SHA256SUMS, as sha256sum does", () => {
    expect(run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")).toBe("");
    const listed = text("SHA256SUMS")
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(66));
    expect([...listed, "SHA256SUMS"].toSorted()).toEqual([...filesOf(release)]);
  });

  test("has nothing without a digest, and nothing that the API server would refuse", () => {
    const texts = filesOf(release).filter((path) => /\.(?:yaml|json|md)$/u.test(path));
    expect(texts.length).toBeGreaterThan(25);
    const unfit = texts.filter((path) => /sha256:0{64}/u.test(text(path)) || text(path).includes(unreleasedMark));
    expect(unfit).toEqual([]);
  });

  test("is a release for levee manifests: each file, with another registry", async () => {
    const facts = await readRelease(release);
    expect({ version: facts.version, commit: facts.commit }).toEqual({ version, commit: parts.commit.id });
    const site = await siteManifests(release, facts, "registry.example.com/site");
    const unchanged = site.filter((file) => /levee\.dev\/levee(?:-guard)?(?:@|$)/mu.test(file.text));
    expect(unchanged.map(({ path }) => path)).toEqual([]);
    const install = site.find(({ path }) => path === "install.yaml");
    expect(install?.text).toBe(
      text("install.yaml").replaceAll(/levee\.dev\/(?=levee(?:-guard)?@)/gu, "registry.example.com/site/"),
    );
    expect(install?.images).toBe(3);
  });

  test("packs programs that can be run, for each architecture", () => {
    for (const architecture of ["amd64", "arm64"]) {
      const archive = `levee-${version}-linux-${architecture}.tar.gz`;
      const to = mkdtempSync(join(base, "unpacked-"));
      run("tar", "-xzf", archive, "-C", to);
      expect(readdirSync(to).toSorted()).toEqual([
        "LICENSE",
        "kubectl-levee",
        "kubectl_complete-levee",
        "levee",
        "levee-shim",
      ]);
      expect(run("env", `PATH=${to}:/usr/bin:/bin`, "kubectl-levee", "check")).toBe(`${architecture} check\n`);
      expect(run("tar", "-tvzf", archive)).toMatch(/^-rwxr-xr-x 0\/0 .* 2026-01-02 .* levee$/mu);
    }
  });

  test("has a krew manifest with the archives' hashes", () => {
    const { spec } = parse(text("krew/levee.yaml")) as {
      spec: { version: string; platforms: readonly Record<"uri" | "sha256" | "bin", string>[] };
    }; // as it was just written
    expect(spec.version).toBe(`v${version}`);
    for (const [at, architecture] of ["amd64", "arm64"].entries()) {
      const file = `levee-${version}-linux-${architecture}.tar.gz`;
      expect(spec.platforms[at]).toMatchObject({
        uri: `https://files.example/levee/${file}`,
        sha256: sha256(file),
        bin: "levee",
      });
    }
  });

  test("has the bill of materials of each image, and of each archive of programs", () => {
    expect(text("sbom/levee-guard-image-linux-arm64.spdx.json")).toBe('{"name":"levee-guard for arm64"}\n');
    const bill = JSON.parse(text(`sbom/levee-${version}-linux-arm64.spdx.json`)) as { packages: { name: string }[] }; // likewise
    const names = bill.packages.map(({ name }) => name);
    for (const name of ["levee", "levee-shim", "bun", "yaml", "rust-std", "libc6-dev"]) expect(names).toContain(name);
    expect(filesOf(join(release, "sbom"))).toHaveLength(6);
  });
});

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: {
    readonly buildDefinition: {
      readonly externalParameters: unknown;
      readonly resolvedDependencies: readonly {
        readonly uri?: string;
        readonly digest: Readonly<Record<string, string>>;
      }[];
    };
  };
}

describe("the provenance", () => {
  test("has every file and image as its subject", () => {
    const { subject } = JSON.parse(text("provenance.json")) as Statement; // as it was just written
    const [images, files] = [subject.slice(-2), subject.slice(0, -2)];
    expect(images.map(({ name, digest }) => `${name} sha256:${digest.sha256}`)).toEqual(
      parts.images.images.map(({ name, digest }) => `levee.dev/${name}:${version} ${digest}`),
    );
    for (const { name, digest } of files) expect(`${name} ${digest.sha256}`).toBe(`${name} ${sha256(name)}`);
    const left = filesOf(release).filter((path) => !files.some(({ name }) => name === path));
    expect(left).toEqual(["SHA256SUMS", "provenance.json"]);
  });

  test("names the commit, and each input once with its hash", () => {
    const { buildDefinition } = (JSON.parse(text("provenance.json")) as Statement).predicate;
    expect(buildDefinition.externalParameters).toMatchObject({ source: { digest: { gitCommit: "c".repeat(40) } } });
    const inputs = buildDefinition.resolvedDependencies;
    expect(new Set(inputs.map((each) => JSON.stringify(each))).size).toBe(inputs.length);
    for (const { digest } of inputs) expect(Object.values(digest)[0]).toMatch(/^(?:[0-9a-f]{40}|[0-9a-f]{64,128})$/u);
    const uris = inputs.map(({ uri = "" }) => uri).join("\n");
    for (const each of ["pkg:npm/%40oven/bun-linux-aarch64@", "pkg:deb/debian/libc6@", "pkg:deb/debian/rustc@"])
      expect(uris).toContain(each);
  });
});

describe.skipIf(helm === undefined)("the chart", () => {
  // Helm takes an old one for granted where there is no cluster.
  const chart = [`levee-${version}.tgz`, "--kube-version", "1.30.0"];

  test("passes helm lint", () => {
    expect(run(helm ?? "", "lint", "--strict", ...chart)).toContain("0 chart(s) failed");
  });

  test("renders the images of the release, without a setting", () => {
    const objects = parseAllDocuments(run(helm ?? "", "template", "levee", ...chart, "-n", "levee-system"));
    const images = [...JSON.stringify(objects.map((each) => each.toJS() as unknown)).matchAll(/"image":"([^"]+)"/gu)];
    expect(images.map(([, image]) => image)).toEqual(
      Array.from({ length: 3 }, () => `levee.dev/levee@${parts.images.images[0]?.digest ?? ""}`),
    );
  });

  test("gives a guard with repositories the image with git", () => {
    const repository = 'guard.git.repositories=[{"url":"https://git.example/a.git","branches":["main"],"paths":["a"]}]';
    const set = ["--set", "guard.enabled=true", "--set-json", repository];
    const out = run(helm ?? "", "template", "levee", ...chart, "-n", "levee-system", ...set);
    expect(out).toContain(`image: "levee.dev/levee-guard@${parts.images.images[1]?.digest ?? ""}"`);
  });

  test("refuses a wrong value by its schema", () => {
    const args = ["template", "levee", ...chart, "-n", "levee-system", "--set", "healthPort=none"];
    const { status, stderr } = spawnSync(helm ?? "", args, { cwd: release, encoding: "utf8" });
    expect({ status, named: stderr.includes("healthPort") }).toEqual({ status: 1, named: true });
  });
});
