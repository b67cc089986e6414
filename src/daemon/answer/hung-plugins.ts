import type { AdmissionRequest } from "../../admission/request.ts";
import type { Clock } from "../../base/clock.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { HungView } from "../../wire/pod-now.ts";
import type { RulingFeed } from "../record/ruling-feed.ts";
import { nodeNetworks } from "../../admission/request.ts";
import { stepOf } from "../chains/steps.ts";

/** Admission excludes only a few hung plugins from its count, so this shows all of them. */
const hungMax = 20;

/** The plugins that hang now, by admission's rulings. */
export class HungPlugins {
  readonly #clock: Clock;
  readonly #journal: Pick<Journal, "all">;
  readonly #hung = new Map<AdmissionRequest, { readonly network: string; readonly sinceMs: number }>();

  constructor({ clock, journal, rulings }: HungSources) {
    this.#clock = clock;
    this.#journal = journal;
    rulings.listen(({ what, request, network = "", forMs }) => {
      if (request === undefined) return;
      if (what === "moves-again") this.#hung.delete(request);
      if (what !== "hung") return;
      this.#hung.set(request, { network, sinceMs: clock.monotonicMs() - forMs });
    });
  }

  /** Longest first. */
  all(): readonly HungView[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#hung]
      .slice(0, hungMax)
      .map(([{ subject, namespace, pod }, { network, sinceMs }]) => {
        const record = this.#journal.all().find(({ containerId }) => containerId === subject?.containerId);
        const running = record === undefined ? undefined : runningIn(record, network);
        return {
          namespace,
          pod: subject?.name ?? pod,
          network: running?.network ?? network,
          plugin: running?.plugin ?? "",
          forMs: Math.round(nowMs - sinceMs),
        };
      })
      .toSorted((left, right) => right.forMs - left.forMs);
  }
}

interface HungSources {
  readonly clock: Clock;
  readonly journal: Pick<Journal, "all">;
  readonly rulings: RulingFeed;
}

/** The first unfinished link. Admission treats the node's own networks as one network; a record has several. */
function runningIn(record: AttachmentRecord, network: string): { network: string; plugin: string } | undefined {
  for (const [chainIndex, chain] of record.chains.entries()) {
    if (network !== nodeNetworks && chain.network !== network) continue;
    const link = chain.links.find((_, index) => !record.steps.has(stepOf(record.chains, chainIndex, index)));
    if (link !== undefined) return { network: chain.network, plugin: link.type };
  }
  return undefined;
}
