import { VirtualClock } from "../base/virtual-clock.fixture.ts";

/** A virtual clock whose random numbers the test sets, for code that uses real sockets while time stands still. */
export class ManualClock extends VirtualClock {
  /** What the next calls of `random` return. */
  chance = 0;

  override random(): number {
    return this.chance;
  }

  override randomBytes(length: number): Uint8Array {
    return new Uint8Array(length);
  }

  protected override settled(): Promise<void> {
    return settleIo();
  }
}

/** Resolves when nothing is left to do until time passes. It takes several turns, because one promise leads to another. */
export async function settleIo(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
