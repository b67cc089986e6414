/**
 * How the engine runs in the daemon; set by whoever starts it, because the engine reads it before any of our code.
 * deploy/ has the same in the image, the manifests and the chart. Figures: docs/adr/0003.
 */
export const daemonEnv = {
  /** A quarter less memory for a fifth more CPU. */
  BUN_JSC_useJIT: "0",
  /** Without the JIT the heap is collected whenever it has grown by a fifth; by half, that is a third as often. */
  BUN_JSC_miniVMHeapGrowthFactor: "1.5",
  /** No collections on a timer in the middle of a storm: how much has been allocated decides alone. */
  BUN_GC_TIMER_DISABLE: "1",
} as const;
