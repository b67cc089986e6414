import { existsSync, readdirSync } from "node:fs";
import { readJournalOnly } from "../../state/read-only.ts";
import { runTool, type Context } from "../context.ts";
import { leasesIn } from "./clear.ts";
import type { NetnsBatch } from "./netns-batch.ts";
import type { StormNetworks } from "./prepare.ts";

/** What is there of pods: while they are attached, and after they were deleted. */
export interface Traces {
  /** Addresses booked for a container of the storm. */
  readonly leases: number;
  /** Ports of the storm's own bridges. */
  readonly ports: number;
  /** Interfaces inside the pods' namespaces. */
  readonly interfaces: number;
  readonly journalRecords: number;
  readonly journalLeaks: number;
}

export async function findTraces(context: Context, networks: StormNetworks, netns: NetnsBatch): Promise<Traces> {
  const journal = await readJournalOnly(context.settings.stateDir);
  return {
    leases: networks.leases.flatMap(leasesIn).length,
    ports: networks.bridges.flatMap(portsOf).length,
    interfaces: await interfacesIn(context, netns),
    journalRecords: journal.records.length,
    journalLeaks: journal.leaks.length,
  };
}

/** What must not be there once every pod is deleted, in words. */
export function leakTexts(traces: Traces): readonly string[] {
  const texts = [
    [traces.leases, "booked addresses"],
    [traces.ports, "ports of bridges"],
    [traces.interfaces, "interfaces in pods"],
    [traces.journalRecords, "records in the journal"],
    [traces.journalLeaks, "leaks in the journal"],
  ] as const;
  return texts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

function portsOf(bridge: string): readonly string[] {
  const folder = `/sys/class/net/${bridge}/brif`;
  return existsSync(folder) ? readdirSync(folder) : [];
}

/**
 * Only the names that a pod's interfaces get: with some modules loaded, every namespace has devices of the kernel's own.
 * One shell for all, as thousands of programs one by one would take longer than the storm.
 */
async function interfacesIn({ world }: Context, netns: NetnsBatch): Promise<number> {
  const script = 'cd /var/run/netns && for n in "$1"*; do [ -e "$n" ] && nsenter --net="$n" cat /proc/net/dev; done; :';
  const { stdout } = await runTool(world, "sh", ["-c", script, "sh", netns.prefix]);
  return [...stdout.matchAll(/^\s*(?:eth|net)\d+:/gmu)].length;
}
