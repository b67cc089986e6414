import { spawnSync } from "node:child_process";
import { openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * The wall clock of those programs that are started with `env`, and of no other: a library that stands before their C
 * library adds a number of seconds. The machine's own clock stays as it is, and so does the shim's, which is linked
 * statically and uses the monotonic clock only.
 */
export class ShiftedClock {
  readonly env: Readonly<Record<string, string>>;
  readonly #file: number;
  #shiftS = 0;

  private constructor(library: string, file: string) {
    writeFileSync(file, Buffer.alloc(8));
    this.#file = openSync(file, "r+");
    this.env = { LD_PRELOAD: library, SHIFTED_CLOCK: file };
  }

  static make(folder: string): ShiftedClock {
    const library = join(folder, "shifted-clock.so");
    const source = join(import.meta.dir, "shifted-clock.rs");
    const options = ["--edition", "2021", "-O", "-C", "panic=abort", "-C", "strip=symbols", "-o", library, source];
    const { status, stderr } = spawnSync("rustc", options, { encoding: "utf8" });
    if (status !== 0) throw new Error(`Cannot build ${library}: ${stderr}`);
    return new ShiftedClock(library, join(folder, "clock-shift"));
  }

  get shiftS(): number {
    return this.#shiftS;
  }

  /** Takes effect at once, in programs that run already as well. */
  set(shiftS: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(shiftS));
    writeSync(this.#file, bytes, 0, bytes.length, 0);
    this.#shiftS = shiftS;
  }
}
