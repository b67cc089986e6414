import type { Ruling, RulingKind } from "../../admission/rulings.ts";
import type { Clock } from "../../base/clock.ts";
import type { LogFields } from "../../base/log.ts";
import type { Subject } from "../../base/subject.ts";
import type { Ran } from "../../hands/run-chain.ts";
import { bytesField, type Frame } from "../../wire/frame.ts";
import type { CallHeader } from "../../wire/messages.ts";
import type { Outcome } from "../../wire/outcome.ts";
import type { Timeline, TimelineFacts } from "../record/timeline.ts";
import type { CallEnd } from "../serve/call-log.ts";
import type { Call } from "../serve/call.ts";
import { callAttributes } from "./call-attributes.ts";
import { CallTrace, type TraceHouse } from "./call-trace.ts";
import type { OpenSpan } from "./open-span.ts";
import { ResidentSpans } from "./resident-spans.ts";
import { StatusSpans } from "./status-spans.ts";
import { argIn, newTraceId, parseTraceParent, traceIdOf, type TraceContext } from "./trace-context.ts";
import type { TraceExporter } from "./trace-exporter.ts";

interface TracesNeeds {
  readonly clock: Clock;
  /** Of the calls that succeed, one in so many is sent; none for 0. */
  readonly oneIn: number;
  readonly exporter: Pick<TraceExporter, "add" | "stop">;
  /** The flight recorder, which gets every note. */
  readonly next: Timeline;
}

/** Nobody has to pass on more. */
const traceStatePattern = /^[\x20-\x7e]{1,512}$/u;

/** Rulings that send a call in line away. */
const sentAway: ReadonlySet<RulingKind> = new Set(["held", "refused", "expired", "superseded", "cancelled"]);

/** Makes a trace of each call, from what the other parts tell anyway. Only a daemon with a collector has one. */
export class CallTraces implements Timeline {
  readonly #needs: TracesNeeds;
  readonly #statuses: StatusSpans;
  readonly #byHand = new WeakMap<object, CallTrace>();
  /** Calls under way, by token and by container and verb. */
  readonly #byKey = new Map<string, CallTrace>();
  readonly #plugins = new WeakMap<Outcome, OpenSpan>();
  readonly #house: TraceHouse;
  readonly #resident: ResidentSpans;

  constructor(needs: TracesNeeds) {
    this.#needs = needs;
    this.#house = { clock: needs.clock, onRan: (outcome, span) => this.#plugins.set(outcome, span) };
    this.#statuses = new StatusSpans(needs);
    this.#resident = new ResidentSpans({
      house: this.#house,
      isSampled: (traceId) => this.#isSampled(traceId),
      add: (trace) => needs.exporter.add(trace),
    });
  }

  /** Traces what the resident hand runs for pods. */
  follow(hand: Pick<Call["hand"], "tracer">): void {
    hand.tracer = this.#resident;
  }

  /** A call has come with this frame. */
  begin(call: Call, first: Frame): void {
    const parent = parseTraceParent(asciiField(first, "trace_parent"));
    const traceState = asciiField(first, "trace_state");
    const traceId = parent?.traceId ?? traceIdOfCall(call.header) ?? newTraceId(this.#needs.clock);
    const origin = {
      traceId,
      parentSpanId: parent?.spanId ?? "",
      traceState: parent !== undefined && traceStatePattern.test(traceState) ? traceState : "",
      isSampled: this.#isSampled(traceId, parent),
    };
    const trace = new CallTrace(origin, this.#house);
    call.hand.tracer = trace;
    this.#byHand.set(call.hand, trace);
    this.#byKey.set(call.token, trace).set(keyOf(call.header), trace);
  }

  /** The trace of a call under way, by its token. */
  withToken(token: string): CallTrace | undefined {
    return this.#byKey.get(token);
  }

  /** The trace of a call under way, by its verb and container. */
  under(verb: string, containerId: string): CallTrace | undefined {
    return this.#byKey.get(keyOf({ verb, containerId }));
  }

  /** The trace of a call, by its hand. */
  of(hand: object): CallTrace | undefined {
    return this.#byHand.get(hand);
  }

  /** A call has ended. Returns the IDs for its line in the log. */
  ended(end: CallEnd): LogFields {
    const { call, error } = end;
    const trace = this.of(call.hand);
    if (trace === undefined) return {};
    for (const key of [call.token, keyOf(call.header)]) if (this.#byKey.get(key) === trace) this.#byKey.delete(key);
    const isFailure = error !== undefined;
    if (trace.isSampled || isFailure) {
      const spans = trace.spans(`CNI ${call.header.verb}`, callAttributes(end), error?.message);
      this.#needs.exporter.add({ spans, isFailure });
    }
    return { trace: trace.traceId, span: trace.spanId };
  }

  /** Passes the note on. The first one of a call gets the IDs. */
  note(subject: Subject, what: string, facts: TimelineFacts = {}): void {
    const trace = this.#byKey.get(keyOf(subject));
    const isFirst = what === "asked" && trace !== undefined;
    this.#needs.next.note(subject, what, isFirst ? { ...facts, trace: trace.traceId, span: trace.spanId } : facts);
    if (trace?.isSampled === true && what === "committed") this.#statuses.expect(subject.containerId, trace);
    this.#statuses.note(subject.containerId, what, facts);
  }

  /** The span of a plugin's run, for the entry about it; undefined for a run that belongs to no pod. */
  spanOf({ outcome, chain, error }: Ran): string | undefined {
    const span = this.#plugins.get(outcome);
    span?.describe({ "cni.network": chain.network, "error.type": error?.code });
    if (error !== undefined) span?.fail(error.message);
    this.#resident.settle(outcome);
    return span?.spanId;
  }

  /** Admission has ruled about a call. */
  ruled({ what, request, detail }: Ruling): void {
    const trace = request?.hand === undefined ? undefined : this.of(request.hand);
    if (what === "queued") trace?.waits(detail);
    else if (what === "admitted") trace?.waited();
    else if (sentAway.has(what)) trace?.waited(detail === "" ? what : detail);
  }

  async stop(): Promise<void> {
    await this.#needs.exporter.stop();
  }

  /** What the runtime has decided counts. Else all calls of a pod are sent, or none: the ID decides. */
  #isSampled(traceId: string, parent?: TraceContext): boolean {
    if (parent !== undefined) return parent.isSampled;
    const { oneIn } = this.#needs;
    return oneIn > 0 && Number.parseInt(traceId.slice(-8), 16) % oneIn === 0;
  }
}

/** Never throws: a trace must not fail a call. Bytes that are not ASCII become letters that no pattern takes. */
function asciiField(frame: Frame, tag: "trace_parent" | "trace_state"): string {
  return Buffer.from(bytesField(frame, tag) ?? []).toString("latin1");
}

/** All tries of a pod are one trace. Without a pod it is the container's, and without that the call has its own. */
function traceIdOfCall({ cniArgs, containerId }: CallHeader): string | undefined {
  return traceIdOf(argIn(cniArgs, "K8S_POD_UID") ?? "") ?? traceIdOf(containerId);
}

/** A container has one call of a verb at a time; of two the last one counts. */
function keyOf({ verb, containerId }: { readonly verb: string; readonly containerId: string }): string {
  return `${verb} ${containerId}`;
}
