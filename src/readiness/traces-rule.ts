import { passed, warned, type Check } from "./check.ts";

/** How it goes with the collector of traces. */
export interface TracesFacts {
  readonly endpoint: string;
  readonly sent: number;
  /** Traces that were given up since the start. */
  readonly dropped: number;
  readonly waiting: number;
  /** Why the collector did not take the last batch; undefined when it did. */
  readonly trouble: string | undefined;
  /** How long it has taken nothing. */
  readonly forMs: number;
}

/** Never more than a warning: calls do not need the collector. */
export function tracesCheck({ endpoint, sent, dropped, waiting, trouble, forMs }: TracesFacts): Check {
  const counts = `${sent} sent, ${dropped} dropped, ${waiting} waiting`;
  if (trouble === undefined) return passed("traces", `the collector at ${endpoint} takes traces: ${counts}`);
  const detail = `the collector at ${endpoint} has taken no traces for ${Math.round(forMs / 1_000)} s: ${trouble}; ${counts}`;
  return warned("traces", detail, `${remedyFor(trouble)}; pods start without it`);
}

const remedies: readonly (readonly [RegExp, string])[] = [
  [/traces(?:Headers|Ca)File/u, "mend the file as it says; the daemon reads it again with each try"],
  [/^status 40[13]/u, "check the token in tracesHeadersFile"],
  [
    /certificate|TLS|self.signed|issuer/iu,
    "set tracesCaFile to the authority of the collector's certificate, or check tracesEndpoint",
  ],
  [
    /^status (?:404|405|415)|not of OTLP/u,
    "set tracesEndpoint to a receiver of OTLP over HTTP, usually port 4318 and the path /v1/traces",
  ],
  [/^status (?:429|5\d\d)/u, "the collector is overloaded or its own target is away: look at its log"],
  [/^(?:status|it rejected)/u, "look at the collector's log"],
];

function remedyFor(trouble: string): string {
  const [, remedy] = remedies.find(([pattern]) => pattern.test(trouble)) ?? [];
  return remedy ?? "check that a collector listens there, as the node sees that address";
}
