import { toLeveeError } from "../base/errors.ts";
import type { Hand } from "../hands/hand.ts";
import { noArgs } from "../cni/cni-args.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import type { LeakEntry } from "../state/leak-ledger.ts";
import { dismantle } from "./dismantle.ts";
import type { NodePorts } from "./node-ports.ts";
import { recordedPod } from "./subject.ts";

/** Tries again what could not be undone, each entry at its own due time. */
export async function retryDueLeaks(hand: Hand, ports: NodePorts): Promise<void> {
  for (const entry of ports.journal.leaks()) {
    if (hand.isLost) return;
    if (entry.chains.length === 0 || entry.nextTryWallMs > ports.clock.wallMs()) continue;
    await retryLeak(hand, entry, ports);
  }
}

async function retryLeak(hand: Hand, entry: LeakEntry, ports: NodePorts): Promise<void> {
  const [identity] = entry.netns.path === "" ? [undefined] : await hand.stat([entry.netns.path]);
  const now = { path: entry.netns.path, identity };
  const record = recordOf(entry);
  try {
    const [failure] = await dismantle(hand, record, now, { ports, limitMs: ports.config.delDelegatesMs, verb: "DEL" });
    if (failure === undefined) await ports.journal.leakResolved(entry.id);
    else await ports.journal.leakRetried(entry.id, failure.error.message);
  } catch (thrown) {
    if (hand.isLost) throw thrown;
    await ports.journal.leakRetried(entry.id, toLeveeError(thrown, "Cannot retry").message);
  }
}

/** A leak in the form of the record it is what is left of. */
function recordOf(entry: LeakEntry): AttachmentRecord {
  const { containerId, ifname, chains, results, netns, cniPath, bootId } = entry;
  return {
    token: "",
    containerId,
    ifname,
    netns,
    bootId,
    pod: entry.pod ?? recordedPod(noArgs),
    cniPath,
    cniVersion: "",
    hand: undefined,
    startedWallMs: entry.sinceWallMs,
    chains,
    phase: "acknowledged",
    steps: new Map(),
    results,
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}
