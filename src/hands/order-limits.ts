/** How long a hand has for an order, and who hears of it meanwhile. */
export interface OrderLimits {
  readonly limitMs: number;
  /** Called about once a second while a plugin runs, with the time in which it used no CPU. */
  readonly onProgress?: ((idleMs: number) => void) | undefined;
}
