import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const architectures = ["amd64", "arm64"] as const;
export type Architecture = (typeof architectures)[number];

/** Packages that are used together. `package-sets.ts` says what each is for. */
export const setNames = ["base", "guard", "shim-host", "shim-target"] as const;
export type SetName = (typeof setNames)[number];

/** One package of Debian, known by its content. */
export interface Pin {
  readonly name: string;
  readonly architecture: Architecture;
  readonly version: string;
  readonly sha256: string;
}

export interface Pins {
  /** The day of the pins. Every file of an image has this time, so that it changes only with them. */
  readonly date: string;
  /** The text of the file. */
  readonly text: string;
  of(set: SetName, architecture: Architecture): readonly Pin[];
}

const root = resolve(import.meta.dirname, "../..");
export const pinsFile = "deploy/image/packages.json";
const bump = "npm run image -- --bump writes the file anew";

export function readPins(): Pins {
  return parsePins(readFileSync(join(root, pinsFile), "utf8"));
}

/** Reads `{"date": "2026-11-16", "base": {"amd64": {"libc6": "2.36-9 sha256:…"}}}`. */
export function parsePins(text: string): Pins {
  const parsed = objectAt(parseJson(text), []);
  const { date } = parsed;
  if (typeof date !== "string" || !/^\d{4}-\d{2}-\d{2}$/u.test(date) || Number.isNaN(Date.parse(date)))
    throw new Error(`Cannot use ${pinsFile} as date must be a day like 2026-11-16: current value is ${say(date)}`);
  const pins = new Map<string, readonly Pin[]>();
  for (const set of setNames) {
    const byArchitecture = objectAt(parsed[set], [set]);
    for (const architecture of architectures) {
      const packages = Object.entries(objectAt(byArchitecture[architecture], [set, architecture]));
      pins.set(
        `${set} ${architecture}`,
        packages.map(([name, pin]) => parsePin({ set, name, architecture }, pin)),
      );
    }
  }
  return { date, text, of: (set, architecture) => pins.get(`${set} ${architecture}`) ?? [] };
}

/** The text of the file. Sorted, so that a new version is one changed line. */
export function printPins(
  date: string,
  sets: Readonly<Record<SetName, Readonly<Record<Architecture, readonly Pin[]>>>>,
): string {
  const bySet = setNames.map((set) => [
    set,
    Object.fromEntries(architectures.map((architecture) => [architecture, lines(sets[set][architecture])])),
  ]);
  return `${JSON.stringify({ date, ...Object.fromEntries(bySet) }, undefined, 2)}\n`;
}

function lines(pins: readonly Pin[]): Readonly<Record<string, string>> {
  const sorted = pins.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return Object.fromEntries(sorted.map(({ name, version, sha256 }) => [name, `${version} sha256:${sha256}`]));
}

function parsePin(at: { set: SetName; name: string; architecture: Architecture }, pin: unknown): Pin {
  const [, version, sha256] = /^(\S+) sha256:([0-9a-f]{64})$/u.exec(String(pin)) ?? [];
  if (version === undefined || sha256 === undefined || !/^[a-z0-9][a-z0-9.+-]+$/u.test(at.name)) {
    const where = `${at.set}.${at.architecture}.${at.name}`;
    throw new Error(
      `Cannot use ${pinsFile} as ${where} must be "VERSION sha256:HASH": current value is ${say(pin)}; ${bump}`,
    );
  }
  return { name: at.name, architecture: at.architecture, version, sha256 };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new Error(`Cannot read ${pinsFile}: ${thrown instanceof Error ? thrown.message : String(thrown)}; ${bump}`);
  }
}

function objectAt(value: unknown, path: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  const where = path.length === 0 ? "it" : path.join(".");
  throw new Error(`Cannot use ${pinsFile} as ${where} must be an object: current value is ${say(value)}; ${bump}`);
}

function say(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
