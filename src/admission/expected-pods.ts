/** The others wait no longer than this for pods that are on their way: about half of what an ADD may stand in line. */
const heldMsMax = 8_000;
/** After its ADD the runtime starts the pod's processes, which the others' would get in the way of. */
const startMs = 2_000;
/** As many ADDs as may run at once at best, within this: their pods' processes are being started now. */
const stormMs = 5_000;
/** Of the time, at most a third: whoever makes important pods all the time must not stop everybody else. */
const restPerHeld = 2;

/**
 * Important pods that the cluster has given to this node and whose ADD has not come yet. On a node that is full of
 * starting pods it is the kubelet and the runtime that keep them waiting, not us: every pod that gets its network has
 * processes to be started next. So the others are held for a moment, and the cores are theirs.
 */
export class ExpectedPods {
  /** Until when each is waited for. */
  readonly #untilMs = new Map<string, number>();
  #heldSinceMs: number | undefined;
  #restsUntilMs = 0;
  /** When the last ADDs went, as many as make a storm; a ring. */
  readonly #grantsMs: number[];
  #nextGrant = 0;

  constructor(stormGrants: number) {
    this.#grantsMs = Array.from({ length: stormGrants }, () => -Infinity);
  }

  granted(nowMs: number): void {
    this.#grantsMs[this.#nextGrant] = nowMs;
    this.#nextGrant = (this.#nextGrant + 1) % this.#grantsMs.length;
  }

  expect(pod: string, nowMs: number): void {
    this.#untilMs.set(pod, nowMs + heldMsMax);
  }

  /** Its ADD went through: what is left is the runtime's work. */
  attached(pod: string, nowMs: number): void {
    if (this.#untilMs.has(pod)) this.#untilMs.set(pod, nowMs + startMs);
  }

  /** It runs, or never will. False when nobody waited for it. */
  forget(pod: string): boolean {
    return this.#untilMs.delete(pod);
  }

  /** Whether the others are held: on a node where few pods start nobody would be the quicker for it. */
  holdsOthers(nowMs: number): boolean {
    if (this.#untilMs.size === 0 && this.#heldSinceMs === undefined) return false;
    for (const [pod, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(pod);
    if (this.#heldSinceMs === undefined) return this.#begins(nowMs);
    const heldMs = nowMs - this.#heldSinceMs;
    if (this.#untilMs.size > 0 && heldMs < heldMsMax) return true;
    this.#heldSinceMs = undefined;
    // It may have ended long ago, with nobody there to be let go.
    this.#restsUntilMs = nowMs + Math.min(heldMs, heldMsMax) * restPerHeld;
    return false;
  }

  #begins(nowMs: number): boolean {
    if (this.#untilMs.size === 0 || nowMs < this.#restsUntilMs || !this.#isStorm(nowMs)) return false;
    this.#heldSinceMs = nowMs;
    return true;
  }

  #isStorm(nowMs: number): boolean {
    return nowMs - (this.#grantsMs[this.#nextGrant] ?? -Infinity) < stormMs;
  }
}
