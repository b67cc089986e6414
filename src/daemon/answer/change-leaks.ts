import { LeveeError } from "../../base/errors.ts";
import type { Question } from "../../wire/node-view.ts";
import type { GcPorts } from "../collect/gc-ports.ts";

type LeaksQuestion = Extract<Question, { readonly ask: "leaks" }>;

/** What a person may do about the leak ledger: have it tried again now, or cross out what he has mended by hand. */
export async function changeLeaks({ forget }: LeaksQuestion, ports: GcPorts): Promise<void> {
  if (forget === undefined) retryNow(ports);
  else await forgetLeak(forget, ports);
}

function retryNow({ recovery }: GcPorts): void {
  if (recovery.retryLeaksNow()) return;
  throw new LeveeError("try-later", "Cannot retry what could not be undone: no resident hand is connected");
}

async function forgetLeak(id: string, { journal, logger }: GcPorts): Promise<void> {
  const entry = journal.leaks().find((leak) => leak.id === id);
  if (entry === undefined)
    throw new LeveeError(
      "container-unknown",
      `Cannot forget a leak that is not in the ledger: the ID given is ${JSON.stringify(id.slice(0, 64))}`,
    );
  await journal.leakResolved(id);
  logger.warn("An entry of the leak ledger was crossed out by a person", {
    leak: id,
    container: entry.containerId,
    network: entry.chains.map((chain) => chain.network).join(","),
    reason: entry.reason,
  });
}
