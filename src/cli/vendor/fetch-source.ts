import { X509Certificate } from "node:crypto";
import { errnoOf } from "../../base/errors.ts";
import { oneLine } from "../../base/plain-text.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { withProgress } from "../terminal/progress.ts";
import { download, vendoredBytesMax } from "./download.ts";
import { readManifestBytes } from "./manifest-text.ts";
import { sourceUrl } from "./source-url.ts";
import type { VendoredFile } from "./vendor-lock.ts";
import { hexSha256 } from "./vendored-header.ts";

/** The options by which a person says where the bytes come from and which they must be. */
export interface SourceOptions {
  readonly sha256?: string;
  /** A file that a person carried here, in place of the download. */
  readonly from?: string;
  readonly ca?: string;
}

/** A file of others as it came, judged: an entry of the lock without its path. */
export interface FetchedSource extends Omit<VendoredFile, "path"> {
  readonly content: Uint8Array;
  readonly objects: number;
}

export async function fetchSource(shell: Shell, address: string, options: SourceOptions): Promise<FetchedSource> {
  const url = sourceUrl(address);
  const expected = expectedHash(options);
  const content = options.from === undefined ? await fetched(shell, url, options.ca) : await carried(options.from);
  const sha256 = hexSha256(content);
  if (expected !== undefined && sha256 !== expected)
    throw new CommandFailure("vendor-content", `Cannot vendor ${url.href}: its SHA-256 is ${sha256}, not ${expected}`, {
      remedy: "compare the number with the one that its authors publish; do not use the file if they differ",
    });
  const { objects, images } = readManifestBytes(content, options.from ?? url.href);
  return { url: url.href, sha256, bytes: content.length, images: images.map((image) => ({ image })), content, objects };
}

function expectedHash({ sha256, from }: SourceOptions): string | undefined {
  if (from !== undefined && sha256 === undefined)
    throw usageFailure(
      "Cannot take --from a file without --sha256: nothing would say whose bytes they are",
      "--sha256 HEX, as its authors publish it",
    );
  if (sha256 === undefined) return undefined;
  const hex = sha256.replace(/^sha256:/u, "").toLowerCase();
  if (/^[0-9a-f]{64}$/u.test(hex)) return hex;
  throw usageFailure(
    `Cannot use --sha256 ${oneLine(sha256).slice(0, 80)} as it must have 64 hexadecimal digits`,
    "--sha256 HEX, as sha256sum prints it",
  );
}

async function fetched(shell: Shell, url: URL, caFile: string | undefined): Promise<Uint8Array> {
  const ca = caFile === undefined ? {} : { ca: await authorities(caFile) };
  const { clock, interrupted } = shell;
  return withProgress(shell, `fetching ${url.href}`, () => download(url, { clock, interrupted, ...ca }));
}

async function carried(file: string): Promise<Uint8Array> {
  return givenFile("--from", file, vendoredBytesMax);
}

/** All authorities of a distribution have a quarter of it. */
const authoritiesBytesMax = 1_048_576;

async function authorities(file: string): Promise<string> {
  const pem = (await givenFile("--ca", file, authoritiesBytesMax)).toString("utf8");
  try {
    new X509Certificate(pem);
    return pem;
  } catch {
    throw usageFailure(`Cannot use --ca ${file}: it has no certificate`, "give a file with BEGIN CERTIFICATE in it");
  }
}

async function givenFile(option: string, file: string, bytesMax: number): Promise<Buffer> {
  return readRegularFile(file, { bytesMax, followLinks: true }).catch((thrown: unknown) => {
    const why = errnoOf(thrown) === "ENOENT" ? "there is no such file" : oneLine(String(thrown));
    throw usageFailure(`Cannot use ${option} ${file}: ${why}`, `${option} FILE, a file that you can read`);
  });
}
