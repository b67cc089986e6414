import { createHash } from "node:crypto";
import type { Architecture } from "../debian/pins.ts";
import { writeTar, type Entries, type Entry } from "../debian/tar.ts";

const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

export interface Layer {
  /** What the layer is, for people (`podman history`). */
  readonly about: string;
  /** Compressed. */
  readonly content: Uint8Array;
  /** The hash before compression. */
  readonly diffId: string;
}

/** How the programs of an image are started. */
export interface Start {
  readonly entrypoint: readonly string[];
  readonly env: readonly string[];
  readonly user: string;
}

export interface PlatformImage {
  readonly architecture: Architecture;
  readonly layers: readonly Layer[];
}

export interface Image {
  /** With host and tag. */
  readonly reference: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly start: Start;
  readonly createdAt: Date;
  readonly platforms: readonly PlatformImage[];
}

export interface Archive {
  readonly content: Uint8Array;
  /** Of the index of all platforms. */
  readonly digest: string;
  /** Of the manifest of each platform. */
  readonly platforms: Readonly<Record<string, string>>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** One layer of the given files. The compressor is Bun's own copy of libdeflate: the same bytes on every machine. */
export function layerOf(about: string, files: Entries, mtimeSeconds: number): Layer {
  const tar = writeTar(files, mtimeSeconds);
  return { about, content: Bun.gzipSync(tar, { level: 9, library: "libdeflate" }), diffId: digestOf(tar) };
}

/** An OCI layout as one tar file: everything in it is named by its hash, and the same image gives the same bytes. */
export function archiveOf(image: Image, mtimeSeconds: number): Archive {
  const blobs = new Map<string, Uint8Array>();
  const store = (mediaType: string, content: Uint8Array): Descriptor => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const manifests = image.platforms.map((platform) => ({
    ...storePlatform(image, platform, store),
    platform: { architecture: platform.architecture, os: "linux" },
  }));
  const annotations = image.labels;
  const index = store(
    mediaTypes.index,
    json({ schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations }),
  );
  const names = { "io.containerd.image.name": image.reference, "org.opencontainers.image.ref.name": image.reference };
  const layout = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [{ ...index, annotations: names }] };
  const files = new Map<string, Entry>([
    ["blobs", folder],
    ["blobs/sha256", folder],
    ["index.json", file(json(layout))],
    ["oci-layout", file(json({ imageLayoutVersion: "1.0.0" }))],
    ...[...blobs].map(([digest, content]): [string, Entry] => [`blobs/${digest.replace(":", "/")}`, file(content)]),
  ]);
  return {
    content: writeTar(files, mtimeSeconds),
    digest: index.digest,
    platforms: Object.fromEntries(manifests.map(({ digest, platform }) => [`linux/${platform.architecture}`, digest])),
  };
}

type Store = (mediaType: string, content: Uint8Array) => Descriptor;

function storePlatform(image: Image, { architecture, layers }: PlatformImage, store: Store): Descriptor {
  const created = `${image.createdAt.toISOString().slice(0, 19)}Z`;
  const config = {
    created,
    architecture,
    os: "linux",
    config: {
      Entrypoint: image.start.entrypoint,
      Env: image.start.env,
      Labels: image.labels,
      User: image.start.user,
      WorkingDir: "/",
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ about }) => ({ created, created_by: about })),
  };
  return store(
    mediaTypes.manifest,
    json({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: store(mediaTypes.config, json(config)),
      layers: layers.map(({ content }) => store(mediaTypes.layer, content)),
      annotations: image.labels,
    }),
  );
}

const folder: Entry = { kind: "folder", mode: 0o755, content: new Uint8Array(), target: "" };

function file(content: Uint8Array): Entry {
  return { kind: "file", mode: 0o644, content, target: "" };
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** JSON with sorted keys. */
function json(value: unknown): Buffer {
  const sorted = (_key: string, part: unknown): unknown =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part;
  return Buffer.from(JSON.stringify(value, sorted));
}
