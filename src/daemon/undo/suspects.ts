import { LeveeError } from "../../base/errors.ts";
import type { ProcessIdentity } from "../../base/identity.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Residents } from "./residents.ts";

/** How long a lost shim's children may take to die once they have been killed. */
const reapMs = 5_000;

/**
 * Hands that were lost while they worked on a record. A plugin that outlives its shim may still be attaching, so no other
 * hand touches the record before the lost hand's processes are proven gone.
 */
export class Suspects {
  readonly #bootId: string;
  readonly #residents: Pick<Residents, "all">;
  readonly #byToken = new Map<string, ProcessIdentity[]>();

  constructor(bootId: string, residents: Pick<Residents, "all">) {
    this.#bootId = bootId;
    this.#residents = residents;
  }

  add(token: string, hand: ProcessIdentity): void {
    const known = this.#byToken.get(token) ?? [];
    if (!known.some((other) => isSame(other, hand))) this.#byToken.set(token, [...known, hand]);
  }

  forget(token: string): void {
    this.#byToken.delete(token);
  }

  async proveGone(hand: Hand, record: AttachmentRecord): Promise<void> {
    for (const suspect of [...this.#doersOf(record), ...(this.#byToken.get(record.token) ?? [])]) {
      if (!isSame(suspect, hand.identity) && !this.#isConnected(suspect)) await prove(hand, suspect);
    }
    this.forget(record.token);
  }

  /** A connected resident hand has no runs of an earlier daemon: it waits for their end before it connects. */
  #isConnected(suspect: ProcessIdentity): boolean {
    return this.#residents.all().some((one) => isSame(one.hand.identity, suspect));
  }

  /** The hand of an unfinished ADD, and the resident hand of an unfinished change. After a reboot neither exists. */
  #doersOf({ phase, bootId, hand, plug }: AttachmentRecord): readonly ProcessIdentity[] {
    // What Multus has attached has no boot; the hand's own start time tells it from one of an earlier boot.
    if (bootId !== this.#bootId && bootId !== "") return [];
    const ofAdd = phase === "acknowledged" || hand === undefined ? [] : [hand];
    return plug === undefined ? ofAdd : [...ofAdd, plug.hand];
  }
}

async function prove(hand: Hand, suspect: ProcessIdentity): Promise<void> {
  if (suspect.pidNamespace !== hand.identity.pidNamespace) {
    throw new LeveeError(
      "try-later",
      `Cannot undo yet: the hand is in another PID namespace and cannot see whether process ${suspect.pid} has ended`,
    );
  }
  const state = await hand.reap(suspect, reapMs);
  if (state === "alive")
    throw new LeveeError(
      "try-later",
      `Cannot undo yet as the shim with process ID ${suspect.pid} is still alive and may come back`,
    );
  if (state === "timeout")
    throw new LeveeError("try-later", `Cannot undo yet as children of process ${suspect.pid} have not ended`);
}

function isSame(left: ProcessIdentity, right: ProcessIdentity): boolean {
  return left.pid === right.pid && left.pidStart === right.pidStart && left.pidNamespace === right.pidNamespace;
}
