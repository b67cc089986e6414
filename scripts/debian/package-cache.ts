import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinsFile, type Pin } from "./pins.ts";
import { cacheFolder, PrivateApt } from "./private-apt.ts";

/** What fetches packages: `PrivateApt`, or its double in a test. */
export interface Source {
  update(): void;
  hasVersion(name: string, version: string): boolean;
  offers(names: readonly string[]): readonly { readonly name: string; readonly version: string }[];
  download(folder: string, packages: readonly Pin[]): string | undefined;
}

/** Debian's archive keeps only current versions. */
export class PackagesGone extends Error {}

export interface PackageCache {
  readonly folder: string;
  source(architecture: Pin["architecture"]): Source;
}

const sources = new Map<Pin["architecture"], Source>();

/** The .debs of this user, by their SHA-256. The lists of the sources are read once per process. */
export function packageCache(): PackageCache {
  return {
    folder: cacheFolder("debian-packages"),
    source(architecture) {
      const known = sources.get(architecture) ?? new PrivateApt(architecture);
      sources.set(architecture, known);
      return known;
    },
  };
}

/** The file of each pin, fetched when the cache lacks it. Throws when one cannot be had exactly as pinned. */
export function packageFiles(pins: readonly Pin[], cache: PackageCache): ReadonlyMap<Pin, string> {
  mkdirSync(cache.folder, { recursive: true });
  const fileOf = (pin: Pin): string => join(cache.folder, `${pin.sha256}.deb`);
  for (const pin of pins) dropDamaged(fileOf(pin), pin);
  const missing = pins.filter((pin) => !existsSync(fileOf(pin)));
  for (const architecture of new Set(missing.map((pin) => pin.architecture)))
    fetchAll(
      missing.filter((pin) => pin.architecture === architecture),
      cache.source(architecture),
      fileOf,
    );
  return new Map(pins.map((pin) => [pin, fileOf(pin)]));
}

/** A file that was cut off by a full disk, say, is fetched again. */
function dropDamaged(file: string, pin: Pin): void {
  if (existsSync(file) && sha256(readFileSync(file)) !== pin.sha256) rmSync(file);
}

function fetchAll(pins: readonly Pin[], source: Source, fileOf: (pin: Pin) => string): void {
  const folder = mkdtempSync(join(tmpdir(), "levee-packages-"));
  try {
    source.update();
    refuseUnoffered(pins, source);
    console.log(`Debian packages: fetching ${pins.length}, once`);
    const problem = source.download(folder, pins);
    if (problem !== undefined) throw new Error(`Cannot fetch Debian packages: ${problem}`);
    const fetched = new Map(readdirSync(folder).map((name) => [sha256(readFileSync(join(folder, name))), name]));
    for (const pin of pins) keep(pin, fetched.get(pin.sha256), { folder, to: fileOf(pin) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refuseUnoffered(pins: readonly Pin[], source: Source): void {
  const gone = pins.filter(({ name, version }) => !source.hasVersion(name, version));
  if (gone.length === 0) return;
  const offers = source.offers(gone.map(({ name }) => name));
  const told = gone.slice(0, 3).map(({ name, version, architecture }) => {
    const offered = offers.find((offer) => offer.name === name)?.version;
    return `${name} ${version} (${architecture}; ${offered === undefined ? "none is offered" : `offered is ${offered}`})`;
  });
  const more = gone.length > told.length ? ` and ${gone.length - told.length} more` : "";
  throw new PackagesGone(
    `Cannot fetch Debian packages that ${pinsFile} pins: ${told.join(", ")}${more}. The machine's sources have moved on: npm run image -- --bump pins what they offer now; or add a source that keeps old versions to /etc/apt`,
  );
}

function keep(pin: Pin, name: string | undefined, at: { readonly folder: string; readonly to: string }): void {
  if (name === undefined)
    throw new Error(
      `Cannot use ${pin.name} ${pin.version} (${pin.architecture}): the machine's sources give it with another SHA-256 than ${pin.sha256} in ${pinsFile}. Find out why before you pin it anew with npm run image -- --bump`,
    );
  // The cache may be on another file system than the temporary folder, so the copy is renamed in place.
  const fresh = `${at.to}.${process.pid}`;
  try {
    copyFileSync(join(at.folder, name), fresh);
    renameSync(fresh, at.to);
  } finally {
    rmSync(fresh, { force: true });
  }
}

function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
