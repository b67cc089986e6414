import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../../scripts/debian/private-apt.ts";
import { run } from "../run.ts";

const nobody = "65534";
/** What would have to be fetched. Everything else in the cache is made of it. */
const fetched = /^(?:debian-packages|bun-linux-.+)$/u;

/** A user without any rights, with a home of its own and a Bun that it may run. */
export class OrdinaryUser {
  readonly #home: string;
  readonly #bun: string;

  constructor(folder: string) {
    this.#home = join(folder, "home");
    this.#bun = join(folder, "bun");
    const cache = join(this.#home, ".cache/levee");
    mkdirSync(cache, { recursive: true });
    for (const name of existsSync(cacheFolder()) ? readdirSync(cacheFolder()) : [])
      if (fetched.test(name)) cpSync(cacheFolder(name), join(cache, name), { recursive: true });
    copyFileSync(process.execPath, this.#bun);
    chmodSync(this.#bun, 0o755);
    // Temporary folders are for their owner alone.
    chmodSync(folder, 0o755);
    this.own(this.#home);
  }

  own(path: string): void {
    run("chown", "-R", `${nobody}:${nobody}`, path);
  }

  /** Runs a script with Bun, as this user. */
  bun(cwd: string, ...args: readonly string[]): SpawnSyncReturns<string> {
    const user = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--no-new-privs"];
    return spawnSync("nice", [...user, this.#bun, ...args], {
      cwd,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: this.#home },
    });
  }
}
