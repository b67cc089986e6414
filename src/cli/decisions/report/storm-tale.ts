import { everyPod, type RecorderEntry } from "../../../state/recorder/recorder-entry.ts";

/** Fewer pods in line are a busy minute and no storm; as for an avalanche. */
export const stormPodsMin = 20;
/** A line that was empty for so long begins another storm. */
const gapMs = 300_000;
/** What happened shortly after the line was empty belongs to it still. */
const afterMs = 60_000;

/** One storm on one node, as its flight recorder has it. */
export interface StormTale {
  readonly fromMs: number;
  /** When the last pod left the line. */
  readonly toMs: number;
  /** Pods that waited in line. */
  readonly pods: number;
  /** Most first. */
  readonly namespaces: readonly (readonly [namespace: string, pods: number])[];
  /** The longest line that an entry tells of. */
  readonly lineMax: number;
  /** Sorted, of those that got their turn. */
  readonly waitsMs: readonly number[];
  readonly attached: number;
  readonly failures: readonly (readonly [reason: string, times: number])[];
  /** Pods that were answered from memory for a while, and the longest such time. */
  readonly held: number;
  readonly holdMsMax: number;
  /** Killed plugins, hung plugins and things left behind. */
  readonly oomKills: number;
  readonly hung: number;
  readonly leaks: number;
  /** About the daemon and about networks that failed for everybody, oldest first. */
  readonly moments: readonly { readonly atMs: number; readonly what: string; readonly detail: string }[];
}

/** The largest storm among these entries, oldest first; undefined when there was none. */
export function stormTale(entries: readonly RecorderEntry[]): StormTale | undefined {
  const episodes = episodesOf(entries).filter(({ pods }) => pods.size >= stormPodsMin);
  const [largest] = episodes.toSorted((left, right) => right.pods.size - left.pods.size);
  return largest === undefined ? undefined : taleOf(largest, entries);
}

/** The most pods that waited in one go, for the message that there was no storm. */
export function longestQueue(entries: readonly RecorderEntry[]): number {
  return Math.max(0, ...episodesOf(entries).map(({ pods }) => pods.size));
}

interface Episode {
  readonly fromMs: number;
  toMs: number;
  readonly pods: Set<string>;
}

/** By the entries of pods that came into the line or left it. */
function episodesOf(entries: readonly RecorderEntry[]): readonly Episode[] {
  const episodes: Episode[] = [];
  for (const { wallMs, pod, verb, what } of entries) {
    if (verb !== "ADD" || (what !== "waiting" && what !== "permitted")) continue;
    const last = episodes.at(-1);
    const isSame = last !== undefined && wallMs - last.toMs <= gapMs;
    if (what === "permitted" && !(isSame && last.pods.has(pod))) continue;
    if (isSame) {
      last.toMs = Math.max(last.toMs, wallMs);
      last.pods.add(pod);
    } else episodes.push({ fromMs: wallMs, toMs: wallMs, pods: new Set([pod]) });
  }
  return episodes;
}

function taleOf({ fromMs, toMs, pods }: Episode, entries: readonly RecorderEntry[]): StormTale {
  const during = entries.filter(({ wallMs }) => wallMs >= fromMs && wallMs <= toMs + afterMs);
  const own = during.filter(({ pod }) => pods.has(pod));
  const of = (what: string): readonly RecorderEntry[] => own.filter((entry) => entry.what === what);
  const numbers = (what: string, fact: string): readonly number[] =>
    of(what).flatMap(({ facts }) => (typeof facts[fact] === "number" ? [facts[fact]] : []));
  return {
    fromMs,
    toMs,
    pods: pods.size,
    namespaces: countsOf([...pods].map((pod) => pod.slice(0, pod.indexOf("/")))),
    lineMax: Math.max(0, ...of("waiting").map(({ facts }) => lineOf(facts["detail"]))),
    waitsMs: numbers("permitted", "tookMs").toSorted((left, right) => left - right),
    attached: new Set(of("committed").map(({ pod }) => pod)).size,
    failures: countsOf(
      of("failed").map(({ facts }) => String(facts["detail"] ?? facts["stderr"] ?? "without a reason")),
    ),
    held: new Set(of("charged").map(({ pod }) => pod)).size,
    holdMsMax: Math.max(0, ...numbers("charged", "holdMs")),
    oomKills: of("oom-killed").length,
    hung: of("hung").length,
    leaks: of("leaked").length,
    moments: during
      .filter(({ pod }) => pod === everyPod)
      .map(({ wallMs, what, facts }) => ({ atMs: wallMs, what, detail: String(facts["detail"] ?? "") })),
  };
}

/** `normal, position 31 of 40: …`. */
function lineOf(detail: string | number = ""): number {
  return Number(/position \d+ of (\d+)/u.exec(String(detail))?.[1] ?? 0);
}

function countsOf(values: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([left, most], [right, more]) => more - most || (left < right ? -1 : 1));
}
