import { existsSync, readdirSync } from "node:fs";
import { readJournalOnly } from "../../state/journal/read-only.ts";
import type { Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { isSuccess, runProgram } from "../run-program.ts";
import { childEnv } from "../shell.ts";
import { leasesIn } from "./clear.ts";
import type { NetnsBatch } from "./netns-batch.ts";
import type { StormNetworks } from "./prepare.ts";

/** What pods have on this machine while they are attached, and after they are deleted. */
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

/** What is left although every pod is deleted, in words. */
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

/** Enough for thousands of namespaces on a busy machine. */
const countTimeoutMs = 300_000;

/**
 * Counts only the names that a pod's interfaces get: some kernel modules add devices to every namespace. One shell does it
 * for all namespaces, because one program per namespace would take longer than the storm.
 */
async function interfacesIn({ shell }: Context, netns: NetnsBatch): Promise<number> {
  const end = await runProgram(shell.clock, {
    file: "sh",
    args: ["-c", countScript, "sh", netns.prefix],
    env: childEnv(shell),
    timeoutMs: countTimeoutMs,
    isApart: true,
  });
  if (!isSuccess(end))
    throw new CommandFailure("tool-failed", `Cannot look into the pods' namespaces: ${end.stderr.trim()}`, {
      remedy: "apt-get install util-linux (nsenter)",
    });
  return end.stdout
    .split("\n")
    .map(Number)
    .reduce((sum, count) => sum + count, 0);
}

const countScript = `
command -v nsenter > /dev/null || { echo "nsenter is not installed" >&2; exit 127; }
cd /var/run/netns || exit 1
for name in "$1"*; do
  [ -e "$name" ] && nsenter --net="$name" grep -cE '^ *(eth|net)[0-9]+:' /proc/net/dev
done
exit 0`;
