import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AttachmentsAnswer, LeaksAnswer } from "../../src/wire/node-view.ts";
import { hostInterfaces, leases, linksIn, listing } from "./networks.ts";
import { type LeveeNode, stateDir } from "./node/levee-node.ts";
import { until } from "./until.ts";

/** Longest until a deleted pod has left nothing: its sandbox is stopped before the pod's object goes. */
const settleMs = 40_000;

/** Waits until nothing is left of any pod: records, leaks, addresses, interfaces, namespaces, files. */
export async function untilNothingIsLeft(levee: Pick<LeveeNode, "ask">): Promise<void> {
  await until(
    "nothing is left",
    async () => {
      const left = [...(await ofLevee(levee)), ...ofMachine()];
      if (left.length === 0) return true;
      throw new Error(`left are ${left.slice(0, 8).join(", ")} (${left.length})`);
    },
    { timeoutMs: settleMs, everyMs: 300 },
  );
}

/** Levee's own records, leaks and files that are left. */
export async function ofLevee(levee: Pick<LeveeNode, "ask">): Promise<readonly string[]> {
  const { attachments } = await levee.ask<AttachmentsAnswer>({ ask: "attachments" });
  const { leaks, quarantined } = await levee.ask<LeaksAnswer>({ ask: "leaks" });
  return [
    ...attachments.map((attachment) => `record of ${attachment.pod} (${attachment.phase})`),
    ...leaks.map((leak) => `leak of ${leak.pod} on ${leak.network}: ${leak.reason}`),
    ...quarantined.map((entry) => `quarantined ${entry.file}`),
    ...filesIn(join(stateDir, "offline")),
  ];
}

/** What is left of pods on the machine, whichever meta-CNI attached them. */
export function ofMachine(): readonly string[] {
  return [
    ...leases().map((lease) => `address ${lease}`),
    ...hostInterfaces()
      .filter((name) => name.startsWith("veth"))
      .map((name) => `interface ${name}`),
    ...listing("/run/netns")
      .filter(hasInterfaces)
      .map((name) => `namespace ${name}`),
    ...filesIn("/var/lib/cni/multus"),
    ...filesIn("/var/lib/cni/results"),
  ];
}

/**
 * An empty namespace is the runtime's: one that is killed before it wrote its sandbox down forgets it. CRI-O has also the
 * machine's own there, for pods on the host's network.
 */
function hasInterfaces(name: string): boolean {
  try {
    const isOwn = statSync(`/run/netns/${name}`).ino === statSync("/proc/self/ns/net").ino;
    return !isOwn && linksIn(`/run/netns/${name}`).some((link) => link !== "lo");
  } catch {
    // It went while we looked.
    return false;
  }
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
