import { LeveeError } from "../../base/errors.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Call } from "../serve/call.ts";
import type { Turns } from "../serve/turns.ts";
import type { OfflineFolder } from "../undo/offline-folder.ts";
import type { Recovery } from "../undo/recovery.ts";
import type { TakenNames } from "../undo/taken-names.ts";
import type { Undo } from "../undo/undo.ts";
import type { UndoUnknown } from "../undo/undo-unknown.ts";

export interface EarlierNeeds {
  readonly journal: Pick<Journal, "find">;
  readonly turns: Pick<Turns, "announce">;
  readonly offline: Pick<OfflineFolder, "hasDelete">;
  readonly recovery: Pick<Recovery, "settleBefore" | "proveGone">;
  readonly names: Pick<TakenNames, "find">;
  readonly undo: Pick<Undo, "undo">;
  readonly unknown: Pick<UndoUnknown, "delete">;
}

/** Handles what came before an ADD: due deletes and an unfinished ADD. */
export class Earlier {
  readonly #needs: EarlierNeeds;

  constructor(needs: EarlierNeeds) {
    this.#needs = needs;
  }

  /** Waits for deletes of the pod that are due. A DEL that comes meanwhile must find this ADD, or it would succeed before it. */
  async settle(call: Call, request: AddRequest): Promise<void> {
    using _announced = this.#needs.turns.announce(request.containerId, call);
    await this.#needs.recovery.settleBefore(call, request.args);
    call.givenUp.throwIfAborted();
  }

  /**
   * Undoes the rest of an earlier ADD for the same container and interface, and carries out a DEL of it from while the
   * daemon was away: later, that DEL would hit the new attachment. A living attachment is an error; one whose interface
   * is gone is undone.
   */
  async clear(call: Call, request: AddRequest): Promise<void> {
    refuseMissingNetns(call, request);
    const { journal, offline, recovery, names, undo, unknown } = this.#needs;
    const { containerId, ifname } = request;
    const earlier = journal.find({ containerId, ifname });
    const isUnwanted = offline.hasDelete(containerId, ifname);
    const here = { path: request.netns, identity: call.header.netnsIdentity };
    if (earlier === undefined) {
      if (isUnwanted) await unknown.delete(call.hand, { ...request, now: here, config: () => call.config() });
      return;
    }
    const found = await names.find(call, earlier);
    const isSettled = earlier.phase === "acknowledged" && earlier.delAttempts === 0 && !isUnwanted;
    if (isSettled && found === "there") {
      throw new LeveeError(
        "interface-taken",
        `Cannot attach ${containerId} as ${ifname} is attached already in ${request.netns}; delete it first`,
      );
    }
    if (!isSettled) await recovery.proveGone(call.hand, earlier);
    await undo.undo(earlier, { hand: call.hand, now: found === "elsewhere" ? nowhere : here });
  }
}

const nowhere = { path: "", identity: undefined };

function refuseMissingNetns(call: Call, request: AddRequest): void {
  if (call.header.netnsIdentity !== undefined) return;
  throw new LeveeError("env-invalid", `Cannot attach as CNI_NETNS cannot be opened: current value is ${request.netns}`);
}
