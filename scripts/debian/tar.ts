/** One entry of a tar archive. Owner and time are not kept: an image gives every file to root, with one time for all. */
export interface Entry {
  readonly kind: "file" | "folder" | "symlink" | "hardlink";
  readonly mode: number;
  /** Of a file; empty otherwise. */
  readonly content: Uint8Array;
  /** Of a link; empty otherwise. */
  readonly target: string;
}

/** Entries by path. Paths have no `./` in front and no `/` at the end. */
export type Entries = ReadonlyMap<string, Entry>;

const blockBytes = 512;
const kinds: Readonly<Record<string, Entry["kind"] | undefined>> = {
  "0": "file",
  "\0": "file",
  "1": "hardlink",
  "2": "symlink",
  "5": "folder",
};
const typeFlags = { file: "0", hardlink: "1", symlink: "2", folder: "5" } as const;

interface LongNames {
  path?: string;
  target?: string;
}

/** Reads a tar archive (ustar, with the long names of GNU and PAX). Devices and the like are refused. */
export function readTar(archive: Uint8Array): Entries {
  const entries = new Map<string, Entry>();
  let long: LongNames = {};
  for (let at = 0; at + blockBytes <= archive.length && archive[at] !== 0;) {
    const header = archive.subarray(at, at + blockBytes);
    const size = Number.parseInt(textOf(header, 124, 12).trim() || "0", 8);
    const content = archive.subarray(at + blockBytes, at + blockBytes + size);
    if (content.length < size) throw new Error(`Cannot read the archive: it ends in the middle of an entry at ${at}`);
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes;
    const more = longNames(flagOf(header), content);
    long = more === undefined ? long : { ...long, ...more };
    if (more !== undefined) continue;
    const [path, entry] = readEntry(header, content, long);
    if (path !== "") entries.set(path, entry);
    long = {};
  }
  return entries;
}

function flagOf(header: Uint8Array): string {
  return String.fromCodePoint(header[156] ?? 0);
}

function readEntry(header: Uint8Array, content: Uint8Array, long: LongNames): readonly [string, Entry] {
  const path = plainPath(long.path ?? [textOf(header, 345, 155), textOf(header, 0, 100)].filter(Boolean).join("/"));
  const kind = kinds[flagOf(header)];
  if (kind === undefined) throw new Error(`Cannot read the archive: ${path} is of an unknown kind (${flagOf(header)})`);
  const target = long.target ?? textOf(header, 157, 100);
  return [path, entryOf(kind, Number.parseInt(textOf(header, 100, 8), 8), { content, target })];
}

function entryOf(
  kind: Entry["kind"],
  mode: number,
  { content, target }: { readonly content: Uint8Array; readonly target: string },
): Entry {
  const none = new Uint8Array();
  if (kind === "file" || kind === "folder")
    return { kind, mode, content: kind === "file" ? content : none, target: "" };
  return { kind, mode, content: none, target: kind === "hardlink" ? plainPath(target) : target };
}

/** What an entry says about the next one; undefined for an entry of its own. */
function longNames(flag: string, content: Uint8Array): LongNames | undefined {
  const text = (): string => textOf(content, 0, content.length);
  if (flag === "L") return { path: text() };
  if (flag === "K") return { target: text() };
  if (flag === "g") return {};
  if (flag !== "x") return undefined;
  const found: LongNames = {};
  for (const [, key, value = ""] of text().matchAll(/^\d+ (path|linkpath)=(.*)$/gmu))
    found[key === "path" ? "path" : "target"] = value;
  return found;
}

function plainPath(path: string): string {
  return path
    .replace(/^(?:\.?\/)+/u, "")
    .replace(/\/+$/u, "")
    .replace(/^\.$/u, "");
}

function textOf(bytes: Uint8Array, at: number, length: number): string {
  const text = Buffer.from(bytes.subarray(at, at + length)).toString("utf8");
  const end = text.indexOf("\0");
  return end === -1 ? text : text.slice(0, end);
}

/** Writes an archive that depends on nothing but its entries and the time: sorted by path, owned by root. */
export function writeTar(entries: Entries, mtimeSeconds: number): Buffer<ArrayBuffer> {
  const parts = [...entries.keys()].toSorted(byBytes).flatMap((path) => {
    const entry = entries.get(path);
    return entry === undefined
      ? []
      : [headerOf(path, entry, mtimeSeconds), entry.content, padding(entry.content.length)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

/** The same order on every machine; a folder stands before its content. */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function padding(length: number): Buffer {
  return Buffer.alloc((blockBytes - (length % blockBytes)) % blockBytes);
}

function headerOf(path: string, entry: Entry, mtimeSeconds: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const { prefix, name } = splitPath(entry.kind === "folder" ? `${path}/` : path);
  if (Buffer.byteLength(entry.target) > 100)
    throw new Error(`Cannot write the archive: the target of ${path} is longer than 100 bytes`);
  const octal = (value: number, at: number, digits: number): void =>
    void header.write(value.toString(8).padStart(digits, "0"), at, "ascii");
  header.write(name, 0);
  octal(entry.mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(entry.content.length, 124, 11);
  octal(mtimeSeconds, 136, 11);
  header.write(" ".repeat(8), 148, "ascii");
  header.write(typeFlags[entry.kind], 156, "ascii");
  header.write(entry.target, 157);
  header.write("ustar\0" + "00", 257, "ascii");
  octal(0, 329, 7);
  octal(0, 337, 7);
  header.write(prefix, 345);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header.writeUInt8(0, 154);
  return header;
}

/** ustar has 100 bytes for the name and 155 for the folders in front of it. */
function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at !== -1 && at < path.length - 1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name };
  }
  throw new Error(`Cannot write the archive: the path ${path} is too long`);
}
