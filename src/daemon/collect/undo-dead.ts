import { deadline } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { judge } from "./rules.ts";
import { lookAtNamespaces, placeOf } from "./sight.ts";
import type { GcPorts } from "./gc-ports.ts";
import { undoRecord } from "../undo/undo.ts";
import { subjectOf } from "../record/subject.ts";

/** A container that somebody works on is not dead. */
const turnMsMax = 1_000;
const holder = { verb: "GC", cancel: (): void => undefined };

/**
 * `gone`: somebody else has detached it meanwhile. `doubtful`: it is not dead for certain any more. `leaked`: a plugin failed, and the
 * rest is in the leak ledger.
 */
export type Detached = "detached" | "leaked" | "gone" | "doubtful";

/**
 * Detaches what was judged dead. It is looked at once more when its turn has come, together with
 * records whose namespaces were alive at the first look: proof of sight must hold at the moment in which something is taken away.
 */
export async function detachDead(
  hand: Hand,
  dead: { readonly record: AttachmentRecord; readonly witnesses: readonly AttachmentRecord[] },
  ports: GcPorts,
  signal?: AbortSignal,
): Promise<Detached> {
  const { record, witnesses } = dead;
  const late = (): LeveeError => new LeveeError("try-later", "Another operation holds the container");
  using limit = deadline(ports.clock, turnMsMax, late, signal);
  using _turn = await ports.turns.take(record.containerId, holder, limit.signal);
  const current = ports.journal.findByToken(record.token);
  if (current === undefined) return "gone";
  const sight = await lookAtNamespaces(hand, [current, ...witnesses]);
  const { fate, why } = judge(current, sight, ports.bootId);
  if (fate !== "dead") return "doubtful";
  ports.timeline.note(subjectOf(current, "GC"), "asked", { detail: why });
  await ports.suspects.proveGone(hand, current);
  const isClean = await undoRecord(current, { hand, now: { path: "", identity: undefined } }, ports);
  ports.logger.info("An attachment whose network namespace is gone was detached", {
    container: record.containerId,
    pod: `${record.pod.namespace}/${record.pod.name}`,
    clean: isClean,
  });
  return isClean ? "detached" : "leaked";
}

/** Some may end in the same moment for good reasons. */
const witnessesPerPlace = 4;

/** A few living records of each place, to prove sight with again. */
export function witnessesOf(alive: ReadonlySet<AttachmentRecord>): readonly AttachmentRecord[] {
  const proofs = [...alive].filter((record) => record.netns.identity !== undefined);
  const byPlace = Map.groupBy(proofs, (record) => placeOf(record.netns.path));
  return [...byPlace.values()].flatMap((records) => records.slice(0, witnessesPerPlace));
}
