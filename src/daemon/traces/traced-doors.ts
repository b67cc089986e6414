import { toLeveeError } from "../../base/errors.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { LookUp } from "../look-up/look-up.ts";
import type { Turns } from "../serve/turns.ts";
import type { CallTrace } from "./call-trace.ts";
import type { CallTraces } from "./call-traces.ts";

/** A shorter wait is no wait. */
const turnMsMin = 1;

type AttachJournal = Pick<Journal, "acknowledge" | "begin" | "commit" | "findByToken" | "undoing">;
type TakenTurns = Pick<Turns, "take" | "cancelAdd">;
type TwoLooks = Pick<LookUp, "beforeLine" | "behindLine">;
type Looked = Parameters<TwoLooks["beforeLine"]>[1];
type UndoJournal = Pick<Journal, "delFailed" | "findByToken" | "inNetns" | "removed">;

/** Parts of the daemon with a span for each thing that a call waits for there. Nothing else about them changes. */
export class TracedDoors {
  readonly #traces: CallTraces;

  constructor(traces: CallTraces) {
    this.#traces = traces;
  }

  journal(journal: AttachJournal): AttachJournal {
    const of = (token: string): CallTrace | undefined => this.#traces.withToken(token);
    return {
      begin: (record) => during(of(record.token), "journal plan", () => journal.begin(record)),
      commit: (token, results) => during(of(token), "journal result", () => journal.commit(token, results)),
      acknowledge: (token) => during(of(token), "journal delivery", () => journal.acknowledge(token)),
      undoing: (token, failure) => during(of(token), "journal failure", () => journal.undoing(token, failure)),
      findByToken: (token) => journal.findByToken(token),
    };
  }

  /** A record is undone by the DEL of its container, or by the ADD that failed. */
  undoJournal(journal: UndoJournal): Omit<UndoJournal, "findByToken"> {
    const of = (token: string): CallTrace | undefined => {
      const { containerId = "" } = journal.findByToken(token) ?? {};
      return this.#traces.under("DEL", containerId) ?? this.#traces.under("ADD", containerId);
    };
    return {
      delFailed: (token, reason) => during(of(token), "journal failure", () => journal.delFailed(token, reason)),
      removed: (token) => during(of(token), "journal removal", () => journal.removed(token)),
      inNetns: (identity) => journal.inNetns(identity),
    };
  }

  lookUp(lookUp: TwoLooks): TwoLooks {
    const of = (call: Looked): CallTrace | undefined => this.#traces.under(call.verb, call.containerId);
    return {
      beforeLine: (call, request, held) => during(of(request), "look-up", () => lookUp.beforeLine(call, request, held)),
      behindLine: (call, request, found, conf) =>
        during(of(request), "look-up behind the line", () => lookUp.behindLine(call, request, found, conf)),
    };
  }

  /** Only a call that had to wait for another one of its container has the span. */
  turns(turns: TakenTurns): TakenTurns {
    return {
      cancelAdd: (containerId) => turns.cancelAdd(containerId),
      take: async (containerId, holder, signal) => {
        const trace = this.#traces.under(holder.verb, containerId);
        const startMs = trace?.nowMs() ?? 0;
        try {
          return await turns.take(containerId, holder, signal);
        } finally {
          if (trace !== undefined && trace.nowMs() - startMs >= turnMsMin) trace.part("wait for turn", startMs).end();
        }
      },
    };
  }
}

async function during<T>(trace: CallTrace | undefined, name: string, work: () => Promise<T>): Promise<T> {
  const span = trace?.part(name);
  try {
    return await work();
  } catch (thrown) {
    span?.end(toLeveeError(thrown, name).message);
    throw thrown;
  } finally {
    span?.end();
  }
}
