import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { packageSets, type PackageSet } from "./package-sets.ts";
import { architectures, pinsFile, printPins, setNames, type Architecture, type Pin, type SetName } from "./pins.ts";
import { PrivateApt, type Offer } from "./private-apt.ts";

const root = resolve(import.meta.dirname, "../..");

type Sets = Record<SetName, Record<Architecture, readonly Pin[]>>;

/** Pins what the machine's Debian sources offer today, and says what changed. */
export function bumpPins(today: Date): void {
  const before = currentText();
  const text = offeredPins(today);
  if (withoutDate(text) === withoutDate(before)) {
    console.log(`${pinsFile}: up to date`);
    return;
  }
  writeWhole(join(root, pinsFile), text);
  console.log(
    `${pinsFile}: ${changedLines(before, text)} packages changed; look at the difference, then npm run image`,
  );
}

/** The text of a pins file for the packages that are offered today. */
export function offeredPins(today: Date): string {
  const apts = new Map(architectures.map((architecture) => [architecture, new PrivateApt(architecture)]));
  for (const apt of apts.values()) apt.update();
  const pinsOf = (set: SetName, architecture: Architecture): readonly Pin[] => {
    const apt = apts.get(architecture);
    const offered = apt === undefined ? [] : closure(packageSets[set], (names) => apt.offers(names));
    return offered.map(({ name, version, sha256 }) => ({ name, version, sha256, architecture }));
  };
  const sets = Object.fromEntries(
    setNames.map((set) => [set, Object.fromEntries(architectures.map((each) => [each, pinsOf(set, each)]))]),
  ) as Sets; // one of each, as just made
  return printPins(today.toISOString().slice(0, 10), sets);
}

/** The packages of a set with all that they need. */
export function closure(set: PackageSet, offers: (names: readonly string[]) => readonly Offer[]): readonly Offer[] {
  const found = new Map<string, Offer>();
  let waiting: readonly string[] = set.wanted;
  while (waiting.length > 0) {
    const offered = offers(waiting);
    const missing = waiting.filter((name) => !offered.some((offer) => offer.name === name));
    if (missing.length > 0)
      throw new Error(
        `Cannot pin ${missing.join(", ")}: the machine's Debian sources do not offer it; see apt-get update`,
      );
    for (const offer of offered) found.set(offer.name, offer);
    const needs = set.withNeeds ? offered.flatMap((offer) => offer.needs) : [];
    waiting = [...new Set(needs)].filter((name) => !found.has(name) && !set.without.includes(name));
  }
  return [...found.values()];
}

function currentText(): string {
  try {
    return readFileSync(join(root, pinsFile), "utf8");
  } catch {
    // The first time.
    return "";
  }
}

function withoutDate(text: string): string {
  return text.replace(/^ +"date": .*$/mu, "");
}

function changedLines(before: string, after: string): number {
  const known = new Set(withoutDate(before).split("\n"));
  return withoutDate(after)
    .split("\n")
    .filter((line) => !known.has(line)).length;
}

function writeWhole(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(fresh, text);
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}
