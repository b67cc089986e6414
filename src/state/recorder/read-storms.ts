import type { NodeStorms } from "./node-storm.ts";
import type { RecorderEntry } from "./recorder-entry.ts";
import { eachRecorderEntry } from "./recorder-read.ts";
import { StormCounter, type RecorderWords } from "./storm-counter.ts";
import { StormLines } from "./storm-lines.ts";

/**
 * The storms in a flight recorder. It reads the files twice, because a daemon has little memory: first for the times in
 * which pods waited, then for what happened in them.
 */
export async function readStorms(folder: string, words: RecorderWords): Promise<NodeStorms> {
  const lines = new StormLines();
  let sinceMs = 0;
  await eachRecorderEntry(folder, (entry) => {
    if (sinceMs === 0) sinceMs = entry.wallMs;
    lines.look(entry);
  });
  const counts = lines.end().map((line) => new StormCounter(line, words));
  const look = (entry: RecorderEntry): void => counts.forEach((count) => count.look(entry));
  if (counts.length > 0) await eachRecorderEntry(folder, look);
  return { sinceMs, storms: counts.map((count) => count.end()) };
}
