/**
 * The longest wait for expected pods. On a slow node the kubelet takes that long to begin with them, and the others
 * lose little meanwhile, because they get every core that is free.
 */
const heldMsMax = 20_000;
/** The same where it is not known whether cores are free. */
const blindHeldMsMax = 8_000;
/** ADDs of the others for each look that finds free cores. A pod keeps a core busy until after the next look. */
const spareGrants = 2;
/** After the ADD the runtime starts the pod's processes, which would compete with the processes of other pods. */
const startMs = 2_000;
/**
 * It is a storm when as many ADDs as the ceiling allows were granted within this time, because their pods start now.
 */
const stormMs = 5_000;
/** A stream of critical pods may hold the others at most a third of the time. */
const restPerHeld = 2;

/**
 * Critical pods that are scheduled to this node and whose ADD has not come yet. On a node full of starting pods the
 * kubelet and the runtime delay them, because every attached pod has processes to start next. So admission holds the
 * other pods for a moment, and the critical pods get the cores. A core that they leave free goes to the others.
 */
export class ExpectedPods {
  /** Until when admission waits for each pod. */
  readonly #untilMs = new Map<string, number>();
  #heldSinceMs: number | undefined;
  #heldMsMax = blindHeldMsMax;
  /** How many of the others may go although they are held. */
  #spare = 0;
  #restsUntilMs = 0;
  /** Times of the last grants, as many as make a storm; a ring. */
  readonly #grantsMs: number[];
  #nextGrant = 0;

  constructor(stormGrants: number) {
    this.#grantsMs = Array.from({ length: stormGrants }, () => -Infinity);
  }

  /** Whether cores were free lately; undefined when not known. */
  observed(hasSpareCores: boolean | undefined): void {
    this.#heldMsMax = hasSpareCores === undefined ? blindHeldMsMax : heldMsMax;
    this.#spare = hasSpareCores === true ? spareGrants : 0;
  }

  get isHolding(): boolean {
    return this.#heldSinceMs !== undefined;
  }

  granted(nowMs: number, isCritical: boolean): void {
    if (!isCritical && this.#spare > 0) this.#spare -= 1;
    this.#grantsMs[this.#nextGrant] = nowMs;
    this.#nextGrant = (this.#nextGrant + 1) % this.#grantsMs.length;
  }

  expect(pod: string, nowMs: number): void {
    this.#untilMs.set(pod, nowMs + this.#heldMsMax);
  }

  /** Its ADD succeeded, and the runtime's work is left. */
  attached(pod: string, nowMs: number): void {
    if (this.#untilMs.has(pod)) this.#untilMs.set(pod, nowMs + startMs);
  }

  /** The pod runs, or never will. Returns false when it was not expected. */
  forget(pod: string): boolean {
    return this.#untilMs.delete(pod);
  }

  /** Whether the other pods are held. Only in a storm: with few starting pods a hold helps no pod. */
  holdsOthers(nowMs: number): boolean {
    if (this.#untilMs.size === 0 && this.#heldSinceMs === undefined) return false;
    for (const [pod, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(pod);
    if (this.#heldSinceMs === undefined) return this.#begins(nowMs);
    const heldMs = nowMs - this.#heldSinceMs;
    if (this.#untilMs.size > 0 && heldMs < this.#heldMsMax) return this.#spare === 0;
    this.#heldSinceMs = undefined;
    // The hold may have ended long ago, without any request in line.
    this.#restsUntilMs = nowMs + Math.min(heldMs, this.#heldMsMax) * restPerHeld;
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
