import { deadline } from "../base/clock.ts";
import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { Hand } from "../hands/hand.ts";
import { noArgs } from "../cni/cni-args.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import type { LeakEntry } from "../state/leak-ledger.ts";
import { dismantle, type NetnsNow } from "./dismantle.ts";
import type { NodePorts } from "./node-ports.ts";
import { recordedPod } from "./subject.ts";

/** Background work does not queue long behind a call. */
const turnMsMax = 1_000;
const holder = { verb: "UNDO", cancel: (): void => undefined };

/** Tries again what could not be undone, each entry at its own due time. */
export async function retryDueLeaks(hand: Hand, ports: NodePorts): Promise<void> {
  for (const entry of ports.journal.leaks()) {
    if (hand.isLost) return;
    if (entry.chains.length === 0 || entry.nextTryWallMs > ports.clock.wallMs()) continue;
    if (ports.turns.isBusy(entry.containerId) || isAttachedAgain(entry, ports)) continue;
    await retryLeak(hand, entry, ports);
  }
}

/** The same interface of the same container is in use by now. Its own DEL undoes this too, and crosses the entry out. */
function isAttachedAgain(entry: LeakEntry, ports: NodePorts): boolean {
  const ifnames = new Set(entry.chains.map((chain) => chain.ifname));
  return ports.journal
    .all()
    .some(
      (record) => record.containerId === entry.containerId && record.chains.some(({ ifname }) => ifnames.has(ifname)),
    );
}

async function retryLeak(hand: Hand, entry: LeakEntry, ports: NodePorts): Promise<void> {
  const record = recordOf(entry);
  try {
    const late = (): LeveeError => new LeveeError("try-later", "Another operation holds the container");
    using limit = deadline(ports.clock, turnMsMax, late);
    using _turn = await ports.turns.take(entry.containerId, holder, limit.signal);
    if (isAttachedAgain(entry, ports)) return;
    await ports.suspects.proveGone(hand, record);
    const now = await netnsNow(hand, entry);
    const [failure] = await dismantle(hand, record, now, { ports, limitMs: ports.config.delDelegatesMs, verb: "DEL" });
    if (failure === undefined) await ports.journal.leakResolved(entry.id);
    else await ports.journal.leakRetried(entry.id, failure.error.message);
  } catch (thrown) {
    if (hand.isLost) {
      ports.suspects.add(record.token, hand.identity);
      throw thrown;
    }
    await ports.journal.leakRetried(entry.id, toLeveeError(thrown, "Cannot retry").message);
  }
}

/** A leak that never knew which namespace it was in is undone without one: another pod may live at that path by now. */
async function netnsNow(hand: Hand, entry: LeakEntry): Promise<NetnsNow> {
  const { path, identity } = entry.netns;
  if (path === "" || identity === undefined) return { path: "", identity: undefined };
  const [found] = await hand.stat([path]);
  return { path, identity: found };
}

/** A leak in the form of the record it is what is left of. */
function recordOf(entry: LeakEntry): AttachmentRecord {
  const { containerId, ifname, chains, results, netns, cniPath, bootId } = entry;
  return {
    token: entry.id,
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
