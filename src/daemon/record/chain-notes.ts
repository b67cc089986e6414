import type { Subject } from "../../base/subject.ts";
import { prefix } from "../../hands/explain-outcome.ts";
import type { Ran } from "../../hands/run-chain.ts";
import type { Timeline, TimelineFacts } from "./timeline.ts";

/** A timeline that also notes and measures every plugin run. */
export class ChainNotes implements Timeline {
  readonly #timeline: Timeline;
  readonly #measures: { ran(ran: Ran): void };
  readonly #traces: { spanOf(ran: Ran): string | undefined } | undefined;

  constructor(
    timeline: Timeline,
    measures: { ran(ran: Ran): void },
    traces?: { spanOf(ran: Ran): string | undefined },
  ) {
    this.#timeline = timeline;
    this.#measures = measures;
    this.#traces = traces;
  }

  note(subject: Subject, what: string, facts?: TimelineFacts): void {
    this.#timeline.note(subject, what, facts);
  }

  ran(subject: Subject, ran: Ran): void {
    const { outcome, chain, link, error } = ran;
    this.#measures.ran(ran);
    const span = this.#traces?.spanOf(ran);
    this.#timeline.note({ ...subject, verb: ran.verb }, "ran", {
      network: chain.network,
      ifname: chain.ifname,
      plugin: link.type,
      tookMs: Math.round(outcome.wallUs / 100) / 10,
      maxRssKib: outcome.maxRssKib,
      ...servedBy(outcome),
      ...(error === undefined ? {} : failedRun(outcome, withoutPlace(error.message, chain))),
      ...(outcome.stderr === "" ? {} : { stderr: outcome.stderr }),
      ...(span === undefined ? {} : { span }),
    });
  }
}

function servedBy({ builtIn, notBuiltIn }: Ran["outcome"]): TimelineFacts {
  return { ...(builtIn === undefined ? {} : { builtIn }), ...(notBuiltIn === undefined ? {} : { notBuiltIn }) };
}

function failedRun({ exitCode, signal }: Ran["outcome"], detail: string): TimelineFacts {
  return {
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    detail,
  };
}

/** The entry already has the network and the interface as fields. */
function withoutPlace(message: string, chain: Ran["chain"]): string {
  const place = `${prefix(chain)}: `;
  return message.startsWith(place) ? message.slice(place.length) : message;
}
