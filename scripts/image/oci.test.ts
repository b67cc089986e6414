import { describe, expect, test } from "bun:test";
import { readTar, type Entries } from "../debian/tar.ts";
import { FileTree } from "./file-tree.ts";
import { archiveOf, digestOf, layerOf, type Image } from "./oci.ts";

function layer(name: string, content: string): ReturnType<typeof layerOf> {
  const tree = new FileTree();
  tree.file(name, content);
  return layerOf(`layer ${name}`, tree.entries, 5);
}

const image: Image = {
  reference: "levee.test/x:1",
  labels: { b: "2", a: "1" },
  start: { entrypoint: ["/x"], env: ["A=1"], user: "0:0" },
  createdAt: new Date("2026-01-02T03:04:05.678Z"),
  platforms: [
    { architecture: "amd64", layers: [layer("base", "x"), layer("amd", "y")] },
    { architecture: "arm64", layers: [layer("base", "x"), layer("arm", "z")] },
  ],
};

function contentOf(files: Entries, path: string): Buffer {
  return Buffer.from(files.get(path)?.content ?? []);
}

/** The blob of a digest, as JSON, after its hash was compared. */
function blob<T>(files: Entries, digest: string): T {
  const content = contentOf(files, `blobs/${digest.replace(":", "/")}`);
  expect(digestOf(content)).toBe(digest);
  return JSON.parse(content.toString("utf8")) as T;
}

interface Descriptors {
  readonly manifests: readonly {
    digest: string;
    size: number;
    platform: object;
    annotations: Record<string, string>;
  }[];
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string; readonly size: number }[];
}

/** A platform's manifest leads to its config and to layers whose hashes are those of the config. */
function expectPlatform(files: Entries, digest: string, layers: Image["platforms"][number]["layers"]): void {
  const manifest = blob<Manifest>(files, digest);
  expect(blob<Record<string, unknown>>(files, manifest.config.digest)).toMatchObject({
    created: "2026-01-02T03:04:05Z",
    config: { Entrypoint: ["/x"], Env: ["A=1"], User: "0:0" },
    rootfs: { diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const contents = manifest.layers.map((each) => contentOf(files, `blobs/${each.digest.replace(":", "/")}`));
  expect(contents.map((content) => ({ digest: digestOf(content), size: content.length }))).toEqual(
    manifest.layers.map((each) => ({ digest: each.digest, size: each.size })),
  );
  expect(contents.map((content) => digestOf(Bun.gunzipSync(new Uint8Array(content))))).toEqual(
    layers.map(({ diffId }) => diffId),
  );
}

describe("archiveOf", () => {
  test("makes a layout whose index leads to every platform's config and layers", () => {
    const archive = archiveOf(image, 5);
    const files = readTar(archive.content);
    expect(contentOf(files, "oci-layout").toString()).toBe('{"imageLayoutVersion":"1.0.0"}');
    const top = JSON.parse(contentOf(files, "index.json").toString("utf8")) as Descriptors;
    expect(top.manifests[0]?.digest).toBe(archive.digest);
    expect(top.manifests[0]?.annotations["io.containerd.image.name"]).toBe("levee.test/x:1");
    const index = blob<Descriptors>(files, archive.digest);
    expect(index.manifests.map(({ platform }) => platform)).toEqual([
      { architecture: "amd64", os: "linux" },
      { architecture: "arm64", os: "linux" },
    ]);
    expect(index.manifests.map(({ digest }) => digest)).toEqual(Object.values(archive.platforms));
    for (const [at, { digest }] of index.manifests.entries())
      expectPlatform(files, digest, image.platforms[at]?.layers ?? []);
  });

  test("stores a layer that both platforms have once", () => {
    const files = readTar(archiveOf(image, 5).content);
    // One index, two manifests, two configs, three layers.
    expect([...files.keys()].filter((path) => path.startsWith("blobs/sha256/"))).toHaveLength(8);
  });

  test("gives the same bytes for the same image, whatever the order of keys", () => {
    const other = { ...image, labels: { a: "1", b: "2" } };
    expect(archiveOf(other, 5)).toEqual(archiveOf(image, 5));
    expect(archiveOf({ ...image, labels: { a: "1" } }, 5).digest).not.toBe(archiveOf(image, 5).digest);
  });
});

test("layerOf compresses without a name and a time", () => {
  const { content } = layer("a", "text");
  // Flags and time of the header: RFC 1952, 2.3.
  expect([...content.subarray(0, 8)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
  expect([...readTar(Bun.gunzipSync(new Uint8Array(content))).keys()]).toEqual(["a"]);
});
