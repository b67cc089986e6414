import { LeveeError } from "../../base/errors.ts";
import type { Question } from "../../wire/node-view.ts";
import type { Logger } from "../../base/log.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Recovery } from "../undo/recovery.ts";

type LeaksQuestion = Extract<Question, { readonly ask: "leaks" }>;

export interface ChangeLeaksNeeds {
  readonly journal: Pick<Journal, "leaks" | "leakResolved" | "quarantined">;
  readonly logger: Logger;
  readonly recovery: Pick<Recovery, "retryLeaksNow">;
}

/** Retries all leaks now, or removes an entry that a person has mended by hand. */
export async function changeLeaks({ forget }: LeaksQuestion, needs: ChangeLeaksNeeds): Promise<void> {
  if (forget === undefined) retryNow(needs);
  else await forgetLeak(forget, needs);
}

function retryNow({ recovery }: ChangeLeaksNeeds): void {
  if (recovery.retryLeaksNow()) return;
  throw new LeveeError("try-later", "Cannot retry leaks now: no resident hand is connected");
}

async function forgetLeak(id: string, { journal, logger }: ChangeLeaksNeeds): Promise<void> {
  const entry = journal.leaks().find((leak) => leak.id === id);
  if (entry === undefined)
    throw new LeveeError(
      "container-unknown",
      `Cannot forget a leak that is not in the ledger: the given ID is ${JSON.stringify(id.slice(0, 64))}`,
    );
  await journal.leakResolved(id);
  logger.warn("A person removed an entry from the leak ledger", {
    leak: id,
    container: entry.containerId,
    network: entry.chains.map((chain) => chain.network).join(","),
    reason: entry.reason,
  });
}
