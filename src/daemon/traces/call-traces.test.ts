import { beforeEach, describe, expect, test } from "bun:test";
import type { Ruling, RulingKind } from "../../admission/rulings.ts";
import type { ContainerId, PluginType } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { outcome } from "../../hands/outcome.fixture.ts";
import type { Ran } from "../../hands/run-chain.ts";
import { decodeFrame, encodeFrame, type Frame } from "../../wire/frame.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import type { Call } from "../serve/call.ts";
import { CallTraces } from "./call-traces.ts";
import type { Span } from "./span.ts";
import { TracedDoors } from "./traced-doors.ts";
import type { QueuedTrace } from "./trace-queue.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parent = `00-${traceId}-b7ad6b7169203331-01`;
/** Its last eight digits are 48, which 3 and 4 divide. */
const uid = "6fa459ea-ee8a-4ca4-894e-db7700000030";

let clock: VirtualClock;
let sent: QueuedTrace[];
let recorder: KeptTimeline;

beforeEach(() => {
  clock = new VirtualClock();
  sent = [];
  recorder = new KeptTimeline();
});

function traces(oneIn = 1): CallTraces {
  const exporter = { add: (trace: QueuedTrace) => void sent.push(trace), stop: () => Promise.resolve() };
  return new CallTraces({ clock, oneIn, exporter, next: recorder });
}

function frame(fields: { trace_parent?: string | Uint8Array; trace_state?: string } = {}): Frame {
  const frameBytes = encodeFrame("CALL", [
    ["trace_parent", fields.trace_parent],
    ["trace_state", fields.trace_state],
  ]);
  return decodeFrame(frameBytes.subarray(4));
}

function call(header: Partial<Call["header"]> = {}): Call {
  const cniArgs = `K8S_POD_NAME=web;K8S_POD_UID=${uid}`;
  const hand = { software: "levee-shim 0.1.0" };
  return {
    token: "t1",
    header: { verb: "ADD", containerId: "c1", ifname: "eth0", cniArgs, hand, ...header },
    hand: {},
    asked: undefined,
    resumed: undefined,
  } as unknown as Call; // only what a trace looks at
}

function end(of: CallTraces, ended: Call, error?: LeveeError): ReturnType<CallTraces["ended"]> {
  return of.ended({ call: ended, request: undefined, tookMs: 1, error });
}

function spans(): readonly Span[] {
  return sent.flatMap((trace) => trace.spans);
}

const order = { plugin: "bridge" as PluginType, env: { CNI_COMMAND: "ADD" }, stdin: "{}", timeoutMs: 1 };
const failure = new LeveeError("try-later", "no slot");

describe("CallTraces", () => {
  test("takes the runtime's trace, else the pod's, else the container's, else a new one", () => {
    const all = traces();
    const idOf = (one: Call, first = frame()): unknown => {
      all.begin(one, first);
      return end(all, one)["trace"];
    };
    expect(idOf(call(), frame({ trace_parent: parent }))).toBe(traceId);
    expect(idOf(call())).toBe(uid.replaceAll("-", ""));
    expect(idOf(call({ cniArgs: "", containerId: "ab".repeat(32) }))).toBe("ab".repeat(16));
    const [one, other] = [idOf(call({ cniArgs: "" })), idOf(call({ cniArgs: "" }))];
    expect(one).toMatch(/^[\da-f]{32}$/u);
    expect(other).not.toBe(one);
  });

  test("passes the vendor's state on only with its parent, and only in a right form", () => {
    const all = traces();
    for (const fields of [
      { trace_parent: parent, trace_state: "a=1" },
      { trace_state: "a=1" },
      { trace_parent: parent, trace_state: "a=\n1" },
      { trace_parent: parent, trace_state: `a=${"x".repeat(512)}` },
      { trace_parent: new Uint8Array([0xff, 0xfe]), trace_state: "a=1" },
    ]) {
      const one = call();
      all.begin(one, frame(fields));
      end(all, one);
    }
    expect(spans().map(({ traceState }) => traceState)).toEqual(["a=1", "", "", "", ""]);
    expect(spans().map(({ parentSpanId }) => parentSpanId !== "")).toEqual([true, false, true, true, false]);
  });

  test("sends one pod in so many, always the same ones, and every failure", () => {
    for (const [oneIn, isSent] of [
      [1, true],
      [3, true],
      [48, true],
      [5, false],
      [0, false],
    ] as const) {
      sent = [];
      const all = traces(oneIn);
      for (const verb of ["ADD", "DEL"]) {
        const one = call({ verb });
        all.begin(one, frame());
        end(all, one);
      }
      expect({ oneIn, sent: sent.length }).toEqual({ oneIn, sent: isSent ? 2 : 0 });
      const failed = call();
      all.begin(failed, frame());
      end(all, failed, failure);
      expect(sent.at(-1)).toMatchObject({ isFailure: true, spans: [{ failure: "no slot" }] });
    }
  });

  test("what the runtime has decided about its trace counts", () => {
    const all = traces(0);
    const one = call();
    all.begin(one, frame({ trace_parent: parent }));
    end(all, one);
    expect(sent).toHaveLength(1);
    const other = call();
    all.begin(other, frame({ trace_parent: parent.replace(/01$/u, "00") }));
    end(all, other);
    expect(sent).toHaveLength(1);
  });
});

describe("CallTraces of the parts of a call", () => {
  test("gives each plugin a span of its own, and knows it again by its outcome", () => {
    const all = traces();
    const one = call();
    all.begin(one, frame({ trace_parent: parent }));
    const traced = one.hand.tracer?.begin(order);
    const [, ofOrder, spanId] = (traced?.traceParent ?? "").split("-");
    expect(ofOrder).toBe(traceId);
    const result = outcome({ exitCode: 1 });
    one.hand.tracer?.end(result, traced ?? order);
    const ran = { outcome: result, chain: { network: "lan" }, error: failure } as unknown as Ran; // what a span needs
    expect(all.spanOf(ran)).toBe(spanId ?? "");
    expect(all.spanOf({ ...ran, outcome: outcome() })).toBeUndefined();
    end(all, one);
    expect(spans()[1]).toMatchObject({
      name: "ADD bridge",
      spanId,
      failure: "no slot",
      attributes: { "cni.network": "lan", "process.exit.code": 1, "levee.max_rss_bytes": 4_194_304 },
    });
  });

  test("ends open parts with the call, and tells those of a failed call by its failure", async () => {
    const all = traces();
    const one = call();
    all.begin(one, frame());
    one.hand.tracer?.begin(order);
    await clock.advance(250);
    end(all, one, failure);
    expect(spans()[1]).toMatchObject({ failure: "no slot", startMs: 1_700_000_000_000, endMs: 1_700_000_000_250 });
  });

  test("keeps a hundred parts of a call and counts the others", () => {
    const all = traces();
    const one = call();
    all.begin(one, frame());
    for (let run = 0; run < 130; run += 1) one.hand.tracer?.begin(order);
    end(all, one);
    expect(spans()).toHaveLength(101);
    expect(spans()[0]?.attributes["levee.spans_omitted"]).toBe(30);
  });

  test("the wait in line is a part; who is sent away says why", async () => {
    const all = traces();
    const one = call();
    all.begin(one, frame());
    const rule = (what: RulingKind, detail: string): void =>
      all.ruled({ what, request: { hand: one.hand }, detail } as unknown as Ruling); // what a wait needs
    rule("queued", "slots");
    await clock.advance(20);
    rule("admitted", "");
    rule("queued", "network-open");
    rule("expired", "after 15 s");
    all.ruled({ what: "network-opened", request: undefined, detail: "lan" } as unknown as Ruling); // about no call
    end(all, one, failure);
    expect(spans().slice(1)).toMatchObject([
      { name: "wait in line", failure: undefined, attributes: { "levee.behind": "slots" } },
      { name: "wait in line", failure: "after 15 s" },
    ]);
    expect((spans()[1]?.endMs ?? 0) - (spans()[1]?.startMs ?? 0)).toBe(20);
  });
});

describe("CallTraces of the resident hand", () => {
  const env = {
    CNI_COMMAND: "DEL",
    CNI_CONTAINERID: "c1",
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=${uid}`,
  };
  const undo = { ...order, env };
  const ranOf = (result: ReturnType<typeof outcome>, error?: LeveeError): Ran =>
    ({ outcome: result, chain: { network: "lan" }, error }) as unknown as Ran; // what a span needs

  function tracerOf(all: CallTraces): NonNullable<Call["hand"]["tracer"]> {
    const hand: Pick<Call["hand"], "tracer"> = { tracer: undefined };
    all.follow(hand);
    if (hand.tracer === undefined) throw new Error("the hand has no tracer");
    return hand.tracer;
  }

  test("each run for a pod is a span of the pod's trace, also when two run at once", async () => {
    const all = traces();
    const tracer = tracerOf(all);
    const first = tracer.begin(undo);
    const second = tracer.begin({ ...undo, plugin: "macvlan" as PluginType });
    const [one, two] = [outcome(), outcome()];
    await clock.advance(30);
    tracer.end(two, second);
    await clock.advance(30);
    tracer.end(one, first);
    expect(all.spanOf(ranOf(two))).toBe((second.traceParent ?? "").split("-")[2] ?? "");
    all.spanOf(ranOf(one));
    all.spanOf(ranOf(one));
    expect(spans()).toMatchObject([
      { name: "DEL macvlan", endMs: 1_700_000_000_030 },
      {
        name: "DEL bridge",
        traceId: uid.replaceAll("-", ""),
        parentSpanId: "",
        endMs: 1_700_000_000_060,
        attributes: { "k8s.pod.name": "web", "container.id": "c1", "levee.hand": "resident", "cni.network": "lan" },
      },
    ]);
  });

  test("failures are always sent, others by the pod, and work without a pod never", () => {
    const all = traces(5);
    const tracer = tracerOf(all);
    const run = (asked: typeof undo, error?: LeveeError): string | undefined => {
      const result = outcome();
      tracer.end(result, tracer.begin(asked));
      return all.spanOf(ranOf(result, error));
    };
    expect(run(undo)).toMatch(/^[\da-f]{16}$/u);
    expect(sent).toEqual([]);
    run(undo, failure);
    expect(sent).toMatchObject([{ isFailure: true, spans: [{ failure: "no slot" }] }]);
    expect(run({ ...undo, env: { CNI_COMMAND: "GC" } as typeof env }, failure)).toBeUndefined();
    expect(sent).toHaveLength(1);
  });
});

describe("CallTraces as a timeline", () => {
  test("notes go on to the recorder, and the first one of a call has the IDs", () => {
    const all = traces();
    const one = call();
    all.begin(one, frame());
    const subject = { namespace: "shop", name: "web", containerId: "c1", verb: "ADD" };
    all.note(subject, "asked", { uid });
    all.note({ ...subject, verb: "DEL" }, "asked");
    const fields = end(all, one);
    all.note(subject, "asked");
    expect(recorder.notes.map(({ entry }) => [entry.trace, entry.span])).toEqual([
      [String(fields["trace"]), String(fields["span"])],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test("a status that is written after the answer is a part of the call, once", async () => {
    const all = traces();
    const one = call();
    all.begin(one, frame());
    const subject = { namespace: "shop", name: "web", containerId: "c1", verb: "ADD" };
    all.note(subject, "committed");
    const { span } = end(all, one);
    await clock.advance(500);
    all.note(subject, "publishing", { tookMs: 100, detail: "away" });
    for (let time = 0; time < 2; time += 1) all.note(subject, "published", { tookMs: 300 });
    expect(sent.slice(1)).toMatchObject([
      {
        isFailure: false,
        spans: [{ name: "network-status", parentSpanId: span, startMs: 1_700_000_000_200, failure: undefined }],
      },
    ]);
    const other = call();
    all.begin(other, frame());
    all.note(subject, "committed");
    all.note(subject, "status-refused", { detail: "forbidden" });
    expect(sent.at(-1)).toMatchObject({ isFailure: true, spans: [{ failure: "status-refused: forbidden" }] });
  });

  test("remembers the last five hundred attached containers for their status", () => {
    const all = traces();
    const subject = (at: number): Parameters<CallTraces["note"]>[0] => ({
      namespace: "",
      name: "",
      containerId: `c${at}`,
      verb: "ADD",
    });
    for (let at = 0; at < 600; at += 1) {
      const one = call({ containerId: `c${at}` });
      all.begin(one, frame());
      all.note(subject(at), "committed");
      end(all, one);
    }
    sent = [];
    for (let at = 0; at < 600; at += 1) all.note(subject(at), "published");
    expect(sent).toHaveLength(500);
  });

  test("a call that it never saw begin has no trace", () => {
    expect(end(traces(), call(), failure)).toEqual({});
    expect(sent).toEqual([]);
  });
});

describe("TracedDoors", () => {
  test("a door that fails says so in its span, and fails as before", async () => {
    const all = traces();
    const one = call();
    all.begin(one, frame());
    const broken = new LeveeError("state-unwritable", "the disk is full");
    const journal = new TracedDoors(all).journal({
      begin: () => Promise.reject(broken),
    } as unknown as Parameters<TracedDoors["journal"]>[0]); // only what is called
    const record = { token: "t1" } as Parameters<typeof journal.begin>[0];
    expect(await journal.begin(record).catch((thrown: unknown) => thrown)).toBe(broken);
    end(all, one, broken);
    expect(spans()[1]).toMatchObject({ name: "journal plan", failure: "the disk is full" });
  });

  test("only a turn that was waited for has a span", async () => {
    const all = traces();
    const one = call({ verb: "DEL" });
    all.begin(one, frame());
    const free = { [Symbol.dispose]: () => undefined };
    let waitMs = 0;
    const turns = new TracedDoors(all).turns({
      cancelAdd: () => undefined,
      take: async () => {
        await clock.advance(waitMs);
        return free;
      },
    });
    const take = (): Promise<Disposable> =>
      turns.take("c1" as ContainerId, { verb: "DEL", cancel: () => undefined }, new AbortController().signal);
    expect(await take()).toBe(free);
    waitMs = 40;
    expect(await take()).toBe(free);
    end(all, one);
    expect(spans().slice(1)).toMatchObject([{ name: "wait for turn", endMs: 1_700_000_000_040 }]);
  });
});
