import type { RecorderEntry } from "./recorder-entry.ts";

/** When the outage of 10 May began. */
export const stormStartMs = Date.parse("2026-05-10T17:43:00Z");

export function stormEntry(atMs: number, pod: string, what: string, facts: RecorderEntry["facts"] = {}): RecorderEntry {
  return { wallMs: stormStartMs + atMs, pod, containerId: `c-${pod}`, verb: "ADD", what, facts };
}

/** `count` pods that wait, get their turn one after the other, and are attached. */
export function stormEntries(count: number, atMs = 0, name = "rd"): RecorderEntry[] {
  const pods = Array.from({ length: count }, (_, index) => `fc-desktop/${name}-${index}`);
  return [
    ...pods.map((pod, index) =>
      stormEntry(atMs + index, pod, "waiting", {
        detail: `${index === 0 ? "critical" : "ordinary"}, position ${index + 1} of ${index + 1}: slots`,
      }),
    ),
    ...pods.flatMap((pod, index) => [
      stormEntry(atMs + 1_000 + index * 500, pod, "permitted", { tookMs: 1_000 + index * 500 }),
      stormEntry(atMs + 1_100 + index * 500, pod, "committed"),
    ]),
  ];
}
