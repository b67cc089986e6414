import type { StoryEntry } from "../../src/wire/console-story.ts";

/** A row of the time line: where it begins and ends, as parts of the whole. */
export interface StoryBar {
  readonly entry: StoryEntry;
  /** 0 to 1. */
  readonly from: number;
  readonly to: number;
}

export interface StoryLine {
  readonly startMs: number;
  readonly endMs: number;
  readonly bars: readonly StoryBar[];
}

/** A pod that is tried again for hours would hide its last try in one pixel: only what belongs to the last one is drawn. */
const pauseMsMax = 30_000;

/** Entries on one axis of time. A span ends at its `atMs`. */
export function storyLine(entries: readonly StoryEntry[]): StoryLine {
  const last = lastTry(entries);
  const startMs = Math.min(...last.map(beginOf));
  const endMs = Math.max(...last.map(({ atMs }) => atMs));
  // All at one moment still need a width.
  const span = Math.max(1, endMs - startMs);
  const bars = last.map((entry) => ({
    entry,
    from: (beginOf(entry) - startMs) / span,
    to: (entry.atMs - startMs) / span,
  }));
  return last.length === 0 ? { startMs: 0, endMs: 0, bars: [] } : { startMs, endMs, bars };
}

function lastTry(entries: readonly StoryEntry[]): readonly StoryEntry[] {
  let first = 0;
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1];
    if (before !== undefined && beginOf(entry) - before.atMs > pauseMsMax) first = index;
  }
  return entries.slice(first);
}

function beginOf({ atMs, tookMs = 0 }: StoryEntry): number {
  return atMs - tookMs;
}
