import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { loadIndex } from "../../src/state/journal/container-index.ts";
import { loadJournal } from "../../src/state/journal/journal-load.ts";
import { indexPath, journalPath } from "../../src/state/journal/journal-open.ts";
import type { AttachmentsAnswer, LeaksAnswer } from "../../src/wire/node-view.ts";
import { ip } from "../lab/lab.ts";
import { filesIn } from "../lab/leftovers.ts";
import { processes } from "./process-facts.ts";
import type { SoakNode } from "./soak-node.ts";

/** Everything on the node, by kind. A difference between start and end is something left behind. */
export type Inventory = Readonly<Record<string, readonly string[]>>;

export async function inventoryOf(node: SoakNode): Promise<Inventory> {
  const { lab } = node;
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  const { leaks, quarantined } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  const { state, damaged } = await loadJournal(journalPath(lab.stateDir));
  const { ids } = await loadIndex(indexPath(lab.stateDir));
  const addresses = (await filesIn(node.leases)).filter((file) => !/\/(?:lock|last_reserved_ip\.\d+)$/u.test(file));
  return {
    "network namespaces": ip(["netns", "list"]).split("\n").filter(Boolean).toSorted(),
    "interfaces": interfaces(),
    "addresses": addresses,
    "attachments": attachments.map(({ containerId, phase }) => `${containerId} ${phase}`),
    "leaks": leaks.map(({ containerId, network, reason }) => `${containerId} ${network}: ${reason}`),
    "quarantined": quarantined.map(({ file }) => file),
    "journal records": [...state.records()].map(({ containerId, phase }) => `${containerId} ${phase}`),
    "journal damage": damaged.map(({ reason }) => reason),
    "index entries": [...ids],
    "offline records": await filesIn(join(lab.stateDir, "offline")),
    "half-written files": (await readdir(lab.stateDir, { recursive: true })).filter((name) => name.endsWith(".tmp")),
    "Multus' files": await filesIn(lab.cniDir),
    "processes": [...processes().values()].map(nameOf).toSorted(),
    "daemon's descriptors": node.daemonFacts().descriptors,
  };
}

/** Names of pods' own interfaces are random, so a new one is told by being there at all. */
function interfaces(): readonly string[] {
  const lines = ip(["-o", "link", "show"]).split("\n");
  return lines.flatMap((line) => /^\d+: ([^@:]+)/u.exec(line)?.[1] ?? []).toSorted();
}

function nameOf(command: string): string {
  return command.split(" ").slice(0, 2).join(" ");
}

export interface Difference {
  readonly kind: string;
  readonly before: number;
  readonly after: number;
  readonly more: readonly string[];
  readonly less: readonly string[];
}

/** Connections to the API server are kept for a while in case they are needed again, and closed when they are not. */
const mayShrink: ReadonlySet<string> = new Set(["daemon's descriptors"]);

/** One entry per kind, whether it differs or not. */
export function compareInventories(before: Inventory, after: Inventory): readonly Difference[] {
  return Object.keys(before).map((kind) => {
    const [old = [], now = []] = [before[kind], after[kind]];
    const less = mayShrink.has(kind) ? [] : without(old, now);
    return { kind, before: old.length, after: now.length, more: without(now, old), less };
  });
}

export function isSame({ more, less }: Difference): boolean {
  return more.length === 0 && less.length === 0;
}

/** Items that are more often in the first list than in the second. */
function without(list: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return list.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
