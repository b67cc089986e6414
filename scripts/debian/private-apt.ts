import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { errnoOf } from "../../src/base/errors.ts";
import type { Architecture } from "./pins.ts";

/** What Debian's index says about one package. */
export interface Offer {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** Names of the packages it needs; the first of each group of alternatives. */
  readonly needs: readonly string[];
}

/** For the lists, or 50 packages, over a slow line. On a full disk apt would wait for ever. */
const aptMs = 600_000;

/** The folder for what is fetched or built once, over checkouts and clean builds. */
export function cacheFolder(...parts: readonly string[]): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "levee", ...parts);
}

/**
 * The machine's package sources, read with lists and caches of our own: no rights are needed, another architecture can be
 * asked for, and what is installed here plays no part.
 */
export class PrivateApt {
  readonly #architecture: Architecture;
  readonly #folder: string;
  readonly #patienceMs: number;
  readonly #options: readonly string[];
  #isUpdated = false;

  constructor(architecture: Architecture, { patienceMs = aptMs }: { readonly patienceMs?: number } = {}) {
    this.#architecture = architecture;
    this.#patienceMs = patienceMs;
    const folder = cacheFolder("apt", architecture);
    this.#folder = folder;
    for (const path of ["state/lists/partial", "cache/archives/partial"])
      mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, "status"), "");
    const settings = {
      "Dir::State": join(folder, "state"),
      "Dir::State::status": join(folder, "status"),
      "Dir::Cache": join(folder, "cache"),
      "APT::Architecture": architecture,
      "APT::Architectures": architecture,
      "Acquire::Languages": "none",
      // As root apt would fetch as a user who cannot write to this folder.
      "APT::Sandbox::User": process.getuid?.() === 0 ? "root" : "",
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  }

  /** Fetches the lists, once per process. A source that fails counts when a package is missing, not before. */
  update(): void {
    if (this.#isUpdated) return;
    console.log(`Debian packages: reading the lists of the machine's sources for ${this.#architecture}`);
    this.#isUpdated = true;
    const { status, stderr } = this.#run("apt-get", ["update", "-qq"]);
    if (status !== 0) console.error(`apt-get update ended with ${status ?? "a signal"}: ${lastLines(stderr)}`);
  }

  /** The version of each package that would be installed. Names that are not offered are left out. */
  offers(names: readonly string[]): readonly Offer[] {
    if (names.length === 0) return [];
    const { stdout } = this.#run("apt-cache", ["show", "--no-all-versions", ...names]);
    return parseStanzas(stdout);
  }

  /** Whether this very version is offered. */
  hasVersion(name: string, version: string): boolean {
    return this.#run("apt-cache", ["show", `${name}=${version}`]).status === 0;
  }

  /** Fetches packages of exact versions into the folder. The reason when that fails. */
  download(
    folder: string,
    packages: readonly { readonly name: string; readonly version: string }[],
  ): string | undefined {
    const wanted = packages.map(({ name, version }) => `${name}=${version}`);
    const { status, stderr } = this.#run("apt-get", ["download", "-qq", ...wanted], folder);
    return status === 0 ? undefined : lastLines(stderr);
  }

  #run(
    program: string,
    args: readonly string[],
    cwd?: string,
  ): { status: number | null; stdout: string; stderr: string } {
    const { status, stdout, stderr, error } = spawnSync(program, [...this.#options, ...args], {
      cwd,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, LC_ALL: "C" },
      timeout: this.#patienceMs,
      killSignal: "SIGKILL",
    });
    if (errnoOf(error) === "ETIMEDOUT") throw this.#hung(program, args);
    if (error !== undefined)
      throw new Error(`Cannot start ${program}: ${error.message}; images are made on Debian or Ubuntu, which have apt`);
    return { status, stdout, stderr };
  }

  #hung(program: string, [verb = ""]: readonly string[]): Error {
    const isFull = statfsSync(this.#folder).bavail === 0;
    const why = isFull ? `the disk of ${this.#folder} is full` : "check the machine's package sources";
    const seconds = Math.round(this.#patienceMs / 1_000);
    return new Error(`Cannot fetch Debian's packages: ${program} ${verb} has not ended within ${seconds} s; ${why}`);
  }
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join("; ");
}

/** Reads what `apt-cache show` prints. */
export function parseStanzas(text: string): readonly Offer[] {
  return text.split(/\n\n+/u).flatMap((stanza) => {
    const field = (name: string): string => new RegExp(`^${name}: *(.*)$`, "mu").exec(stanza)?.[1] ?? "";
    const [name, version, sha256] = [field("Package"), field("Version"), field("SHA256")];
    if (name === "") return [];
    const needs = [field("Pre-Depends"), field("Depends")].filter(Boolean).join(", ").split(", ").filter(Boolean);
    return [{ name, version, sha256, needs: needs.map((need) => need.replace(/[ :(|].*$/u, "")) }];
  });
}
