import { join } from "node:path";
import { parseDocument, stringify } from "yaml";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { oneLine } from "../../base/plain-text.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { vendorPathProblem } from "./vendor-path.ts";

/** One file of others that the repository keeps verbatim. */
export interface VendoredFile {
  /** Relative to the folder of the lock file. */
  readonly path: string;
  /** Where it came from. */
  readonly url: string;
  /** Of the bytes as they came, in hexadecimal, without a header of ours. */
  readonly sha256: string;
  readonly bytes: number;
  /** Every image that its objects name, for the mirror. */
  readonly images: readonly VendoredImage[];
}

export interface VendoredImage {
  /** As the file has it. */
  readonly image: string;
  /** What the tag meant when a person mirrored it; absent if the file names the digest, or nobody said. */
  readonly digest?: string;
}

export const vendorLockName = "vendor.lock.yaml";
/** Some hundred files with their images. */
const lockBytesMax = 1_048_576;
/** A reader of a later version must not take it for this one. */
const lockVersion = 1;
const head = `# Files of others, kept verbatim: written by \`levee vendor\` and held by \`levee vendor verify\`.\n`;

export function vendorLockText(files: readonly VendoredFile[]): string {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return head + stringify({ version: lockVersion, files: sorted }, { lineWidth: 0 });
}

/** The locked files; none if there is no lock file yet. */
export async function readVendorLock(root: string): Promise<readonly VendoredFile[]> {
  const file = join(root, vendorLockName);
  const content = await readRegularFile(file, { bytesMax: lockBytesMax, followLinks: false }).catch(
    (thrown: unknown) => {
      if (errnoOf(thrown) === "ENOENT") return undefined;
      if (errnoOf(thrown) === "ELOOP") throw unusable("it is a symbolic link");
      throw thrown;
    },
  );
  return content === undefined ? [] : parseVendorLock(content.toString("utf8"));
}

export async function writeVendorLock(root: string, files: readonly VendoredFile[]): Promise<void> {
  await writeFileAtomically(join(root, vendorLockName), vendorLockText(files), { mode: 0o644, sync: true });
}

/** The entries of these files, and of all files below these folders; all entries if none is named. */
export function chooseLocked(files: readonly VendoredFile[], paths: readonly string[]): readonly VendoredFile[] {
  const wanted = paths.map((path) => path.replace(/^\.\//u, "").replace(/\/+$/u, ""));
  const isBelow = (path: string, chosen: string): boolean => path === chosen || path.startsWith(`${chosen}/`);
  const stranger = wanted.find((chosen) => !files.some(({ path }) => isBelow(path, chosen)));
  if (stranger !== undefined)
    throw usageFailure(`Cannot find ${stranger} in ${vendorLockName}`, "levee vendor verify, which lists all of them");
  return paths.length === 0 ? files : files.filter(({ path }) => wanted.some((chosen) => isBelow(path, chosen)));
}

/** Refuses everything that it does not know: a lock that is half understood holds nothing. */
export function parseVendorLock(text: string): readonly VendoredFile[] {
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw unusable(oneLine(problem.message));
  const lock = fieldsOf(document.toJS(), "the file", ["version", "files"]);
  if (lock["version"] !== lockVersion)
    throw unusable(`version must be ${lockVersion}: current value is ${shown(lock["version"])}`);
  const { files } = lock;
  if (!Array.isArray(files)) throw unusable("files must be a list");
  const parsed = files.map((entry: unknown, index) => fileOf(entry, `files[${index}]`));
  requireOnePathEach(parsed);
  return parsed;
}

function fileOf(entry: unknown, where: string): VendoredFile {
  const { path, url, sha256, bytes, images } = fieldsOf(entry, where, ["path", "url", "sha256", "bytes", "images"]);
  const checked = textAt(path, `${where}.path`, /^.+$/u, "a path");
  const pathProblem = vendorPathProblem(checked);
  if (pathProblem !== undefined) throw unusable(`${where}.path ${pathProblem}: current value is ${shown(path)}`);
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 1)
    throw unusable(`${where}.bytes must be a whole number above 0: current value is ${shown(bytes)}`);
  if (!Array.isArray(images)) throw unusable(`${where}.images must be a list`);
  return {
    path: checked,
    url: textAt(url, `${where}.url`, /^https?:\/\/\S+$/u, "a URL"),
    sha256: textAt(sha256, `${where}.sha256`, /^[0-9a-f]{64}$/u, "64 hexadecimal digits in lower case"),
    bytes,
    images: images.map((image: unknown, index) => imageOf(image, `${where}.images[${index}]`)),
  };
}

function imageOf(entry: unknown, where: string): VendoredImage {
  const { image, digest } = fieldsOf(entry, where, ["image", "digest"]);
  const name = textAt(image, `${where}.image`, /^\S+$/u, "an image");
  if (digest === undefined) return { image: name };
  return {
    image: name,
    digest: textAt(digest, `${where}.digest`, /^sha256:[0-9a-f]{64}$/u, "sha256: and 64 hexadecimal digits"),
  };
}

function requireOnePathEach(files: readonly VendoredFile[]): void {
  const seen = new Map<string, number>();
  for (const [index, { path }] of files.entries()) {
    const first = seen.get(path);
    if (first !== undefined) throw unusable(`files[${first}] and files[${index}] have one path, ${shown(path)}`);
    seen.set(path, index);
  }
}

function fieldsOf(value: unknown, where: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unusable(`${where} must be a map`);
  const fields = value as Readonly<Record<string, unknown>>; // an object of the YAML parser
  const stranger = Object.keys(fields).find((key) => !known.includes(key));
  if (stranger !== undefined) throw unusable(`${where} has the unknown field ${shown(stranger)}`);
  return fields;
}

function textAt(value: unknown, where: string, pattern: RegExp, what: string): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw unusable(`${where} must be ${what}: current value is ${shown(value)}`);
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : oneLine(JSON.stringify(value)).slice(0, 120);
}

function unusable(why: string): CommandFailure {
  return new CommandFailure("vendor-lock", `Cannot use ${vendorLockName}: ${why}`, {
    remedy: `take the last good one from git (git log -p ${vendorLockName}), then run the command again`,
  });
}
