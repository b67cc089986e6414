import type { TimelineAnswer, TimelineEntry } from "../wire/node-view.ts";
import { withoutPrefix } from "./addresses.ts";
import type { Paint } from "./paint.ts";
import { oneLine, plainText } from "./plain-text.ts";
import { newestOf, outcomeOf, type PodOutcome, type PodStory } from "./pod-outcome.ts";
import { ageText, momentText, tookText } from "./span.ts";

export interface TimelineView extends PodStory {
  readonly timeline: TimelineAnswer;
  readonly nowMs: number;
  readonly paint: Paint;
}

/** The story of one pod: what it amounts to first, then call by call. */
export function timelineText(view: TimelineView): string {
  const blocks = callsOf(view.timeline.entries).map((call) => callText(call, view));
  const notices = (view.timeline.notices ?? []).map((notice) => view.paint("yellow", `! ${oneLine(notice)}`));
  return `${[summaryOf(view), ...notices].join("\n")}\n${blocks.map((block) => `\n${block}`).join("")}`;
}

/** One sentence: how the pod stands now, or how the last thing that happened to it ended. */
export function summaryOf(view: TimelineView): string {
  const { namespace, name } = view.timeline;
  const pod = oneLine(namespace === "" ? name : `${namespace}/${name}`);
  const last = view.timeline.entries.at(-1);
  const outcome = outcomeOf(view);
  if (outcome.state === "unknown" && last === undefined)
    return `${pod}: nothing has happened to it since the daemon started`;
  return `${pod} ${oneLine(outcomeText(outcome, view))}`;
}

function outcomeText({ state, sinceWallMs, reason }: PodOutcome, view: TimelineView): string {
  const ago = `${ageText(view.nowMs - sinceWallMs)} ago`;
  const texts: Readonly<Record<PodOutcome["state"], () => string>> = {
    attached: () => `attached ${ago} on ${networksText(view)}`,
    attaching: () => `is being attached, started ${ago}: ${networksText(view)}`,
    detaching: () => `is being detached, started ${ago}`,
    undoing: () => `failed: ${reason}; what was done is being undone, started ${ago}`,
    lost: () => `lost its shim ${ago}; what was done is going to be undone`,
    detached: () => `detached ${ago}`,
    undone: () => `could not be attached ${ago} and was undone: ${reason}`,
    leaked: () => `left something behind ${ago}, see levee leaks: ${reason}`,
    failed: () => `failed ${ago}: ${reason}`,
    unknown: () => `is not attached; last seen ${ago}: ${lastSeen(view)}`,
  };
  return texts[state]();
}

function networksText({ attachments }: TimelineView): string {
  const networks = newestOf(attachments)?.networks ?? [];
  return networks.map((one) => `${one.network} (${[one.ifname, ...one.ips.map(withoutPrefix)].join(" ")})`).join(", ");
}

function lastSeen({ timeline }: TimelineView): string {
  const last = timeline.entries.at(-1);
  return last === undefined ? "" : `${last.verb} ${last.what}`;
}

/** Entries of one call stand together; the ring of the daemon is in order of time, so calls of one pod may interleave. */
function callsOf(entries: readonly TimelineEntry[]): readonly (readonly TimelineEntry[])[] {
  const calls: TimelineEntry[][] = [];
  const openCalls = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const key = `${entry.containerId} ${entry.verb}`;
    const open = entry.what === "asked" ? undefined : openCalls.get(key);
    if (open !== undefined) {
      open.push(entry);
      continue;
    }
    const started = [entry];
    calls.push(started);
    openCalls.set(key, started);
  }
  return calls;
}

function callText(call: readonly TimelineEntry[], view: TimelineView): string {
  const [first] = call;
  if (first === undefined) return "";
  const heading = `${oneLine(first.verb)} of ${oneLine(first.containerId).slice(0, 13)}, ${momentText(first.wallMs)} (${ageText(view.nowMs - first.wallMs)} ago)`;
  const columns = call.map(
    (entry) => [`+${tookText(entry.wallMs - first.wallMs)}`, oneLine(entry.what), factsText(entry)] as const,
  );
  const widths = [0, 1].map((column) => Math.max(...columns.map((cells) => (cells[column] ?? "").length)));
  const lines = columns.map(([since, what, facts], at) => {
    const line = `  ${since.padStart(widths[0] ?? 0)}  ${what.padEnd(widths[1] ?? 0)}  ${facts}`.trimEnd();
    return [what === "failed" || what === "leaked" ? view.paint("red", line) : line, ...stderrLines(call[at])].join(
      "\n",
    );
  });
  return `${view.paint("bold", heading)}\n${lines.join("\n")}\n`;
}

function factsText(entry: TimelineEntry): string {
  const place = [entry.network, entry.ifname].filter((part) => part !== undefined).join(" ");
  const memory = entry.maxRssKib === undefined ? undefined : `${(entry.maxRssKib / 1024).toFixed(1)} MiB`;
  const took = entry.tookMs === undefined ? undefined : `took ${tookText(entry.tookMs)}`;
  return [place, entry.plugin, took, memory, entry.detail]
    .filter((part) => part !== undefined && part !== "")
    .map((part) => oneLine(part ?? ""))
    .join("  ");
}

/** A plugin's own words, indented under the step they belong to. */
function stderrLines(entry: TimelineEntry | undefined): readonly string[] {
  const text = plainText(entry?.stderr ?? "").trim();
  return text === "" ? [] : text.split("\n").map((line) => `      stderr: ${line.trimEnd()}`);
}
