import type { Admission } from "../../admission/admission.ts";
import type { Ruling, RulingKind } from "../../admission/rulings.ts";
import type { AdmissionFacts } from "../../admission/facts.ts";
import { attachClasses } from "../../admission/request.ts";
import type { Clock } from "../../base/clock.ts";
import type { RulingFeed } from "../record/ruling-feed.ts";
import { oncePerScrape, type MetricsRegistry, type Sample } from "./metrics-registry.ts";

/** From no wait at all to the longest wait, 70 s for an ADD. */
const waitBounds = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 50, 70] as const;
const classes = ["detach", ...attachClasses] as const;
/** Outcomes of a request; all but `queued` end it. */
const outcomes = ["admitted", "queued", "held", "refused", "expired", "superseded", "cancelled"] as const;
const events = ["upgraded", "hung", "moves-again", "oom-killed", "network-opened", "network-closed"] as const;
const isOutcome: ReadonlySet<RulingKind> = new Set(outcomes);
/** Requests held or refused at once never waited; counting them would make the waits look short. */
const endsWait: ReadonlySet<RulingKind> = new Set(["admitted", "expired", "superseded", "cancelled"]);

export function registerAdmission(metrics: MetricsRegistry, { clock, admission }: AdmissionSources): void {
  const facts = oncePerScrape(clock, () => admission.facts());
  registerLine(metrics, facts);
  registerSlots(metrics, facts);
  registerBrakes(metrics, facts);
}

interface AdmissionSources {
  readonly clock: Clock;
  readonly admission: Pick<Admission, "facts">;
}

/** Counts rulings; must be called before the first CNI call can arrive. */
export function countRulings(metrics: MetricsRegistry, rulings: RulingFeed): void {
  const total = metrics.counter("levee_admissions_total", "Requests for a slot by outcome", ["class", "outcome"]);
  const seconds = metrics.histogram("levee_wait_seconds", "Time in line of calls that have left it", waitBounds, [
    "class",
  ]);
  const happened = metrics.counter("levee_admission_events_total", "Events that admission saw, by kind", ["event"]);
  // Every series starts at zero, so that Prometheus sees the first event as a rise.
  for (const name of classes) for (const outcome of outcomes) total.add([name, outcome], 0);
  for (const event of events) happened.add([event], 0);
  rulings.listen(({ what, admissionClass, forMs }: Ruling) => {
    const name = admissionClass ?? "none";
    if (isOutcome.has(what)) total.add([name, what]);
    else happened.add([what]);
    if (endsWait.has(what) || (what === "refused" && forMs > 0)) seconds.observe(forMs / 1_000, [name]);
  });
}

function registerLine(metrics: MetricsRegistry, facts: () => AdmissionFacts): void {
  metrics.gauge("levee_waiting", "Calls that wait for a slot", () => {
    const { waiting } = facts();
    return classes.map((name) => ({
      labels: { kind: name === "detach" ? "detach" : "attach", class: name },
      value: waiting[name] ?? 0,
    }));
  });
  metrics.gauge(
    "levee_oldest_wait_seconds",
    "Wait of the call that has waited longest; 0 when none waits",
    () => facts().oldestWaitMs / 1_000,
  );
  metrics.gauge("levee_held_pods", "Pods that failed and wait for their next try", () => facts().heldPods);
}

function registerSlots(metrics: MetricsRegistry, facts: () => AdmissionFacts): void {
  const byKind = (attach: number, detach: number): readonly Sample[] => [
    { labels: { kind: "attach" }, value: attach },
    { labels: { kind: "detach" }, value: detach },
  ];
  metrics.gauge("levee_running", "Calls that hold a slot", () => {
    const { attaching, detaching } = facts();
    return byKind(attaching, detaching);
  });
  metrics.gauge("levee_slots", "Calls that may hold a slot at once now", () => {
    const { limit, detachLimit } = facts();
    return byKind(limit, detachLimit);
  });
  metrics.gauge("levee_slots_ceiling", "The most that levee_slots can be", () => {
    const { ceiling, detachCeiling } = facts();
    return byKind(ceiling, detachCeiling);
  });
  metrics.gauge("levee_slow_start", "1 while the number of slots still grows after a start", () =>
    facts().isSlowStart ? 1 : 0,
  );
  metrics.gauge("levee_hung_delegates", "Plugins that hang; they do not count as running", () => facts().hung);
}

function registerBrakes(metrics: MetricsRegistry, facts: () => AdmissionFacts): void {
  metrics.gauge(
    "levee_networks_half_open",
    "Networks that fail and are tried only once in a while",
    () => facts().openNetworks.length,
  );
  metrics.gauge(
    "levee_delegate_memory_bytes",
    "Memory that the running plugins are expected to take",
    () => facts().delegateBytes,
  );
  metrics.gauge(
    "levee_delegate_memory_room_bytes",
    "Memory that they may take together; no series without a limit",
    () => {
      const { delegateBytesMax } = facts();
      return delegateBytesMax === undefined ? [] : [{ value: delegateBytesMax }];
    },
  );
  metrics.gauge("levee_memory_state", "1 for the present state of the daemon's own memory", () =>
    oneOf("state", ["free", "frozen", "exhausted"], facts().ownMemory),
  );
  metrics.gauge("levee_host_pressure", "1 for the present pressure on the host", () =>
    oneOf("level", ["calm", "busy", "high", "severe"], facts().pressure),
  );
}

function oneOf<T extends string>(label: string, names: readonly T[], now: T): readonly Sample[] {
  return names.map((name) => ({ labels: { [label]: name }, value: name === now ? 1 : 0 }));
}
