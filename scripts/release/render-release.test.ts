import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import { imagePlaces } from "../../src/cli/registry/image-places.ts";
import { renderFolder } from "../deploy/kustomization.ts";
import { readImages } from "./images.ts";
import { releaseManifests, renderRelease } from "./render-release.ts";
import { someImages } from "./some-images.fixture.ts";

const root = resolve(import.meta.dirname, "../..");
const zeros = `sha256:${"0".repeat(64)}`;
const [levee] = someImages;

function read(path: string): string | undefined {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

function objects(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}

describe("releaseManifests", () => {
  const files = releaseManifests({ images: someImages, head: "Levee 1.2.3, commit abc" });

  test("has no zeros, and names every image by the digest that was built", () => {
    let named = 0;
    for (const [name, text] of files) {
      expect(text).not.toContain(zeros);
      for (const { text: image, digest } of imagePlaces(name, text)) {
        expect(digest === undefined ? image : `${image}@${digest}`).toBe(`levee.dev/levee@${levee.digest}`);
        named += 1;
      }
    }
    // Install, uninstall: three containers each, in four ways; the guard; the way back. The daemon, the hand and the guard
    // once more for Argo CD.
    expect(named).toBe(4 * 2 * 3 + 2 + 4);
  });

  test("changes nothing but the image", () => {
    const folder = renderFolder("deploy/overlays/k3s", read).map((object) => object.toJS() as unknown);
    const expected = JSON.stringify(folder).replaceAll(
      /"image":"[^"]+"/gu,
      `"image":"levee.dev/levee@${levee.digest}"`,
    );
    expect(JSON.stringify(objects(files.get("k3s.yaml") ?? ""))).toBe(expected);
  });

  test("has the whole of deploy/gitops that is YAML", () => {
    const listed = readdirSync(join(root, "deploy/gitops"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".yaml"))
      .map((entry) => relative(join(root, "deploy"), join(entry.parentPath, entry.name)));
    expect([...files.keys()].filter((name) => name.startsWith("gitops/")).toSorted()).toEqual(listed.toSorted());
  });

  test("says in each file what it is made of", () => {
    for (const text of files.values()) expect(text).toStartWith("# Levee 1.2.3, commit abc\n");
  });

  test("puts a site's registry in front of the name", () => {
    const site = releaseManifests({ images: someImages, registry: "registry.example.com:5000/site" });
    expect(site.get("install.yaml")).toContain(`image: registry.example.com:5000/site/levee@${levee.digest}\n`);
    expect(site.get("back-to-multus/kustomization.yaml")).toContain("newName: registry.example.com:5000/site/levee\n");
    expect(() => releaseManifests({ images: someImages, registry: "https://a.test" })).toThrow("leave out the scheme");
  });

  test("refuses a manifest that would keep its zeros", () => {
    const stubborn = (path: string): string | undefined =>
      path === "deploy/guard/deployment.yaml" ? read(path)?.replace("image: levee", `image: x@${zeros}`) : read(path);
    expect(() => releaseManifests({ images: someImages, read: stubborn })).toThrow(
      "Cannot render guard.yaml: an image",
    );
  });
});

describe("renderRelease", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "levee-release-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("writes the files, and nothing if it cannot render them all", () => {
    const outDir = join(folder, "out");
    expect(() => renderRelease({ images: [], outDir })).toThrow("Cannot find the image levee: there is none");
    expect(existsSync(outDir)).toBe(false);
    const files = renderRelease({ images: someImages, outDir });
    for (const [name, text] of files) expect(readFileSync(join(outDir, name), "utf8")).toBe(text);
  });

  test.each([
    ["{}", "images must be a list"],
    [JSON.stringify({ images: [{ ...levee, digest: zeros }] }), "images[0].digest must match"],
    [JSON.stringify({ images: [{ ...levee, archive: "../x" }] }), "images[0].archive must match"],
    [JSON.stringify({ images: [levee] }), "Cannot find the image levee-guard: there is levee"],
  ])("readImages refuses %s", async (text, problem) => {
    const file = join(folder, "images.json");
    await Bun.write(file, text);
    expect(() => readImages(file)).toThrow(problem);
    expect(() => readImages(`${file}.gone`)).toThrow("npm run image writes it");
  });
});
