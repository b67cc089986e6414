import type { TimelineAnswer, TimelineEntry } from "../../wire/node-view.ts";
import { withoutPrefix } from "./interfaces.ts";
import type { Paint } from "../terminal/paint.ts";
import { oneLine, plainText } from "../../base/plain-text.ts";
import { failuresText, heldText, openNetworkLines, waitingText } from "./pod-now-text.ts";
import { newestOf, outcomeOf, type PodOutcome, type PodStory } from "./pod-outcome.ts";
import { ageText, momentText, tookText } from "../terminal/span.ts";

export interface TimelineView extends PodStory {
  readonly timeline: TimelineAnswer;
  readonly nowMs: number;
  readonly paint: Paint;
  /** Times of day, whole IDs and exit codes as well. */
  readonly isWide?: boolean;
}

/** The timeline of one pod: first the outcome, then call by call. */
export function timelineText(view: TimelineView): string {
  const { entries, omitted = 0, now = {} } = view.timeline;
  const blocks = callsOf(entries).map((call) => callText(call, view));
  const older = omitted === 0 ? [] : [`${omitted} older entries are not shown`];
  const notices = [...openNetworkLines(now), ...(view.timeline.notices ?? []), ...older].map((notice) =>
    view.paint("yellow", `! ${oneLine(notice)}`),
  );
  return `${[summaryOf(view), ...notices].join("\n")}\n${blocks.map((block) => `\n${block}`).join("")}`;
}

/** One sentence: the pod's current state, or the end of its last call. */
export function summaryOf(view: TimelineView): string {
  const { namespace, name } = view.timeline;
  const pod = oneLine(namespace === "" ? name : `${namespace}/${name}`);
  const last = view.timeline.entries.at(-1);
  const outcome = outcomeOf(view);
  if (outcome.state === "unknown" && last === undefined) return `${pod}: nothing is recorded about it`;
  return `${pod} ${oneLine(outcomeText(outcome, view))}`;
}

function outcomeText({ state, sinceWallMs, reason }: PodOutcome, view: TimelineView): string {
  const { now = {} } = view.timeline;
  const ago = `${ageText(view.nowMs - sinceWallMs)} ago`;
  const texts: Readonly<Record<PodOutcome["state"], () => string>> = {
    attached: () => `attached ${ago} on ${networksText(view)}`,
    attaching: () => `is being attached, started ${ago}: ${networksText(view)}`,
    detaching: () => `is being detached, started ${ago}`,
    undoing: () => `failed: ${reason}; the undo started ${ago}`,
    lost: () => `lost its shim ${ago}; the undo is due`,
    detached: () => `detached ${ago}`,
    undone: () => `could not be attached ${ago} and was undone: ${reason}`,
    leaked: () => `left something behind ${ago}, see levee leaks: ${reason}`,
    failed: () => `failed ${ago}: ${reason}`,
    waiting: () => (now.waiting === undefined ? reason : waitingText(now.waiting, view.timeline.namespace)),
    held: () => (now.failing === undefined ? reason : heldText(now.failing)),
    hung: () => `hangs for ${tookText(now.hung?.forMs ?? 0)}: ${reason}; its slot is given to others`,
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

/** Entries of one call, or of work that no call asked for. */
interface Call {
  /** Empty for entries about every pod. */
  readonly verb: string;
  readonly entries: readonly TimelineEntry[];
}

/**
 * Groups the entries by call; in the recorder the calls of one pod may interleave. An entry about every pod goes into each
 * call that was running, else between the calls.
 */
function callsOf(entries: readonly TimelineEntry[]): readonly Call[] {
  const calls: { readonly verb: string; readonly entries: TimelineEntry[] }[] = [];
  const openCalls = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    if (entry.containerId === "") {
      const underWay = calls.filter((call) => !isOver(call));
      for (const call of underWay) call.entries.push(entry);
      if (underWay.length === 0) calls.push({ verb: "", entries: [entry] });
      continue;
    }
    const verb = verbOf(entry, openCalls);
    const key = `${entry.containerId} ${verb}`;
    const open = isFirst(entry, openCalls.get(key)) ? undefined : openCalls.get(key);
    if (open !== undefined) {
      open.push(entry);
      continue;
    }
    const started = [entry];
    calls.push({ verb, entries: started });
    openCalls.set(key, started);
  }
  return calls;
}

/** A look at a running pod's annotation that finds no change to make, as in one that cannot be read, is apart from the last change. */
function isFirst({ verb, what }: TimelineEntry, open: readonly TimelineEntry[] = []): boolean {
  if (what === "asked") return true;
  const isLook = verb === "PLUG" && (what === "failed" || what === "waiting");
  return isLook && open[0]?.what === "asked" && changeEnds.has(open.at(-1)?.what ?? "");
}

const changeEnds: ReadonlySet<string> = new Set(["failed", "plugged", "unplugged"]);

/** A plugin that runs for a change of a running pod belongs to that. One's DEL without a DEL call is the undo of the ADD. */
function verbOf(
  { containerId, verb, what }: TimelineEntry,
  openCalls: ReadonlyMap<string, readonly TimelineEntry[]>,
): string {
  if (what === "ran" && isPlugging(openCalls.get(`${containerId} PLUG`))) return "PLUG";
  const isUndo =
    verb === "DEL" && what !== "asked" && openCalls.has(`${containerId} ADD`) && !openCalls.has(`${containerId} DEL`);
  return isUndo ? "UNDO" : verb;
}

function isPlugging(change: readonly TimelineEntry[] | undefined): boolean {
  return change !== undefined && !isOver({ verb: "PLUG", entries: change });
}

/** Entries that end a call. A later restart or recovery of a network is not part of the call. */
const ends: ReadonlySet<string> = new Set([
  "acknowledged",
  "failed",
  "finished",
  "leaked",
  "charged",
  "undone",
  "plugged",
  "unplugged",
]);

function isOver({ verb, entries }: Call): boolean {
  return verb === "" || entries.some(({ what }) => ends.has(what));
}

function callText({ verb, entries: call }: Call, view: TimelineView): string {
  const [first] = call;
  if (first === undefined) return "";
  const when = `${momentText(first.wallMs)} (${ageText(view.nowMs - first.wallMs)} ago)`;
  if (first.containerId === "") return `${view.paint("bold", `${everybodyText(first)}, ${when}`)}\n`;
  const id = oneLine(first.containerId).slice(0, view.isWide === true ? undefined : 13);
  const heading = `${oneLine(verb)} of ${id}, ${when}`;
  const columns = call.map(
    (entry) =>
      [
        sinceText(entry, first, view),
        oneLine(words[entry.what] ?? entry.what),
        factsText(entry, view.isWide === true),
      ] as const,
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

/** Renames entries that are easy to misread: a hung plugin may also have been killed. */
const words: Readonly<Record<string, string>> = { "moves-again": "hang-ended" };

function sinceText(entry: TimelineEntry, first: TimelineEntry, { isWide = false }: TimelineView): string {
  const since = `+${tookText(entry.wallMs - first.wallMs)}`;
  return isWide ? `${momentText(entry.wallMs).slice(11, 23)} ${since.padStart(8)}` : since;
}

/** An event of the daemon or of a network, as a heading. */
function everybodyText({ what, detail = "", network }: TimelineEntry): string {
  const texts: Readonly<Record<string, string>> = {
    "daemon-started": "The daemon was started",
    "daemon-ended": "The daemon ended",
    "network-opened": `${network ?? "The node's own network"} began to fail for everybody`,
    "network-closed": `${network ?? "The node's own network"} works again`,
    "recorder-gap": "The recorder has a gap",
  };
  const text = texts[what] ?? what;
  return oneLine(detail === "" || what === "network-closed" ? text : `${text} (${detail})`);
}

function factsText(entry: TimelineEntry, isWide: boolean): string {
  if (entry.containerId === "") return everybodyText(entry);
  const place = [entry.network, entry.ifname].filter((part) => part !== undefined).join(" ");
  const memory = entry.maxRssKib === undefined ? undefined : `${(entry.maxRssKib / 1024).toFixed(1)} MiB`;
  const took = entry.tookMs === undefined ? undefined : `took ${tookText(entry.tookMs)}`;
  const { detail } = entry;
  return [
    place,
    pluginText(entry, isWide),
    took,
    memory,
    chargeText(entry),
    detail,
    traceText(entry),
    ...(isWide ? wideFacts(entry) : []),
  ]
    .filter((part) => part !== undefined && part !== "")
    .map((part) => oneLine(part ?? ""))
    .join("  ");
}

/** The plugin, and which one served: its program, or the one that is built in. */
function pluginText({ plugin, builtIn, notBuiltIn }: TimelineEntry, isWide: boolean): string | undefined {
  if (builtIn !== undefined) return `${plugin ?? ""} (built in${isWide ? `, as ${builtIn}` : ""})`;
  return notBuiltIn === undefined ? plugin : `${plugin ?? ""} (program: ${notBuiltIn})`;
}

/** How often the pod had failed by then, and how long it was held. */
function chargeText({ failures, holdMs }: TimelineEntry): string | undefined {
  if (failures === undefined) return undefined;
  const next = holdMs === undefined || holdMs === 0 ? "it may retry at once" : `next try after ${tookText(holdMs)}`;
  return `${failuresText({ failures })}, ${next}`;
}

/** The IDs of a call's trace, to look it up. */
function traceText({ trace, span }: TimelineEntry): string | undefined {
  return trace === undefined ? undefined : `trace=${trace} span=${span ?? ""}`;
}

function wideFacts({ exitCode, signal, uid, trace, span }: TimelineEntry): readonly string[] {
  return [
    ...(exitCode === undefined ? [] : [`exit=${exitCode}`]),
    ...(signal === undefined ? [] : [`signal=${signal}`]),
    ...(uid === undefined ? [] : [`uid=${uid}`]),
    ...(span === undefined || trace !== undefined ? [] : [`span=${span}`]),
  ];
}

/** A plugin's stderr, indented below its entry. */
function stderrLines(entry: TimelineEntry | undefined): readonly string[] {
  const text = plainText(entry?.stderr ?? "").trim();
  return text === "" ? [] : text.split("\n").map((line) => `      stderr: ${line.trimEnd()}`);
}
