import { LeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Call } from "../serve/call.ts";
import type { Turns } from "../serve/turns.ts";
import type { OfflineFolder } from "../undo/offline-folder.ts";
import type { Recovery } from "../undo/recovery.ts";
import type { Undo } from "../undo/undo.ts";
import type { UndoUnknown } from "../undo/undo-unknown.ts";

export interface EarlierNeeds {
  readonly bootId: string;
  readonly journal: Pick<Journal, "find" | "inNetns">;
  readonly turns: Pick<Turns, "announce">;
  readonly offline: Pick<OfflineFolder, "hasDelete">;
  readonly recovery: Pick<Recovery, "settleBefore" | "proveGone">;
  readonly undo: Pick<Undo, "undo">;
  readonly unknown: Pick<UndoUnknown, "delete">;
}

/** Handles what came before an ADD: due deletes, an unfinished ADD, other containers of the namespace. */
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
   * daemon was away: later, that DEL would hit the new attachment. A living attachment is an error.
   */
  async clear(call: Call, request: AddRequest): Promise<void> {
    refuseMissingNetns(call, request);
    const { journal, offline, recovery, undo, unknown } = this.#needs;
    const { containerId, ifname } = request;
    const earlier = journal.find({ containerId, ifname });
    const isUnwanted = offline.hasDelete(containerId, ifname);
    const here = { path: request.netns, identity: call.header.netnsIdentity };
    if (earlier === undefined) {
      if (isUnwanted) await unknown.delete(call.hand, { ...request, now: here, config: () => call.config() });
      return;
    }
    // A record from Multus has no identity, so it counts as the same namespace.
    const isHere = earlier.netns.identity === undefined || (await this.#isInNetnsOf(call, earlier));
    const isSettled = earlier.phase === "acknowledged" && earlier.delAttempts === 0 && !isUnwanted;
    if (isSettled && isHere) {
      throw new LeveeError(
        "interface-taken",
        `Cannot attach ${containerId} as ${ifname} is attached already in ${request.netns}; delete it first`,
      );
    }
    if (!isSettled) await recovery.proveGone(call.hand, earlier);
    await undo.undo(earlier, { hand: call.hand, now: isHere ? here : { path: "", identity: undefined } });
  }

  /** Refuses interface names of other containers in this namespace: the ADD would fail, and its undo would remove them. */
  async refuseTaken(call: Call, request: AddRequest, ifnames: ReadonlySet<string>): Promise<void> {
    const { netnsIdentity } = call.header;
    if (netnsIdentity === undefined) return;
    for (const other of this.#needs.journal.inNetns(netnsIdentity)) {
      const taken = other.chains.find((chain) => ifnames.has(chain.ifname));
      if (taken === undefined || !(await this.#isInNetnsOf(call, other))) continue;
      throw new LeveeError(
        "interface-taken",
        `Cannot attach ${request.containerId}: ${taken.ifname} in ${request.netns} belongs to container ${other.containerId}; delete that first`,
      );
    }
  }

  /**
   * Whether a record's namespace is the call's. The kernel gives the numbers of dead namespaces to new ones, so the
   * record's own path must still lead there.
   */
  async #isInNetnsOf(call: Call, record: AttachmentRecord): Promise<boolean> {
    const { netns, netnsIdentity } = call.header;
    if (record.bootId !== this.#needs.bootId || !sameNetns(record.netns.identity, netnsIdentity)) return false;
    if (record.netns.path === netns) return true;
    const [now] = await call.hand.stat([record.netns.path]);
    return sameNetns(now, netnsIdentity);
  }
}

function refuseMissingNetns(call: Call, request: AddRequest): void {
  if (call.header.netnsIdentity !== undefined) return;
  throw new LeveeError("env-invalid", `Cannot attach as CNI_NETNS cannot be opened: current value is ${request.netns}`);
}
