import { describe, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../client/api.ts";
import type { EventObject, EventText } from "./event-body.ts";
import { EventRecorder } from "./event-recorder.ts";
import { ManualClock, settleIo } from "../manual-clock.fixture.ts";
import { Outbox } from "./outbox.ts";
import { judgeEvent } from "./delivery-verdict.ts";

const pod: EventObject = { apiVersion: "v1", kind: "Pod", namespace: "test", name: "web", uid: "u1" };
const added: EventText = { type: "Normal", reason: "AddedInterface", message: "Add net1 [1.1.1.3/24] from test/net1" };

/** A recorder whose requests are kept, and answered with the next error if there is one. */
class Desk {
  readonly clock = new ManualClock();
  readonly requests: KubeRequest[] = [];
  readonly fates: string[] = [];
  readonly recorder: EventRecorder;
  readonly errors: (Error | undefined)[] = [];
  suppressed = 0;

  constructor() {
    const { clock } = this;
    clock.chance = 1;
    const api: KubeApi = {
      call: (request) => {
        this.requests.push(request);
        const error = this.errors.shift();
        return error === undefined ? Promise.resolve("{}") : Promise.reject(error);
      },
      lines: () => {
        throw new Error("no watch is expected");
      },
    };
    const outbox = new Outbox({
      what: "event",
      clock,
      logger: silentLogger,
      judge: judgeEvent,
      lettersMax: 1_000,
      atOnceMax: 1,
      onFate: (fate) => this.fates.push(fate),
    });
    const source = { component: "multus", host: "node1" };
    this.recorder = new EventRecorder({ api, clock, source, outbox, onSuppressed: () => (this.suppressed += 1) });
  }

  async record(about: EventObject, text: EventText): Promise<void> {
    this.recorder.record(about, text);
    await settleIo();
  }

  get asked(): readonly string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  bodyOf(index: number): Record<string, unknown> {
    return JSON.parse(this.requests[index]?.body ?? "null") as Record<string, unknown>;
  }
}

function refusal(status: number, message = "no"): KubeError {
  return new KubeError("api-refused", message, { status });
}

describe("EventRecorder", () => {
  test("posts a core/v1 event as Multus' recorder does", async () => {
    const desk = new Desk();
    await desk.record(pod, added);
    expect(desk.asked).toEqual(["POST /api/v1/namespaces/test/events"]);
    expect(desk.bodyOf(0)).toEqual({
      apiVersion: "v1",
      kind: "Event",
      metadata: { namespace: "test", name: "web.0000000000000000" },
      involvedObject: pod,
      ...added,
      source: { component: "multus", host: "node1" },
      reportingComponent: "multus",
      reportingInstance: "node1",
      firstTimestamp: "2023-11-14T22:13:20Z",
      lastTimestamp: "2023-11-14T22:13:20Z",
      count: 1,
    });
  });

  test("raises the count of a repeated event, and creates it again when the server has deleted it", async () => {
    const desk = new Desk();
    await desk.record(pod, added);
    await desk.clock.advance(5_000);
    await desk.record(pod, added);
    expect(desk.asked[1]).toBe("PATCH /api/v1/namespaces/test/events/web.0000000000000000");
    expect(desk.bodyOf(1)).toEqual({ count: 2, lastTimestamp: "2023-11-14T22:13:25Z" });
    desk.errors.push(refusal(404));
    await desk.record(pod, added);
    expect(desk.asked.slice(2)).toEqual([
      "PATCH /api/v1/namespaces/test/events/web.0000000000000000",
      "POST /api/v1/namespaces/test/events",
    ]);
    expect(desk.bodyOf(3)).toMatchObject({ count: 3 });
  });

  test("counts repeated events while the server is away, and sends them once", async () => {
    const desk = new Desk();
    desk.errors.push(new KubeError("api-unreachable", "away"));
    await desk.record(pod, added);
    await desk.record(pod, added);
    await desk.record(pod, added);
    await desk.clock.advance(10_000);
    expect(desk.asked).toHaveLength(2);
    expect(desk.bodyOf(1)).toMatchObject({ count: 3 });
  });

  test("takes an event that exists already for its own, whose answer was lost", async () => {
    const desk = new Desk();
    desk.errors.push(refusal(409));
    await desk.record(pod, added);
    expect(desk.asked.map((line) => line.split(" ")[0])).toEqual(["POST", "PATCH"]);
    expect(desk.fates).toEqual(["delivered"]);
  });

  test("keeps other objects, reasons and messages apart", async () => {
    const desk = new Desk();
    await desk.record(pod, added);
    await desk.record({ ...pod, uid: "u2" }, added);
    await desk.record(pod, { ...added, message: "Add eth0 [] from primary" });
    expect(desk.asked).toEqual(Array.from({ length: 3 }, () => "POST /api/v1/namespaces/test/events"));
  });
});

describe("EventRecorder keeps to its limits", () => {
  test("sends at most 1,024 bytes of whole characters, and keeps no more", async () => {
    const desk = new Desk();
    desk.errors.push(...Array.from({ length: 600 }, () => new KubeError("api-unreachable", "away")));
    for (let index = 0; index < 600; index += 1) {
      // A pod's annotation may ask for a network with a name of this length.
      const name = Buffer.alloc(250_000, 97 + (index % 26)).toString("latin1");
      desk.recorder.record({ ...pod, name: `web${index}` }, { ...added, message: `${index} ${name}` });
    }
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed).toBeLessThan(100 * 1_048_576);
    const other = new Desk();
    await other.record(pod, { ...added, message: `a${"é".repeat(1_000)}` });
    expect(other.bodyOf(0)["message"]).toBe(`a${"é".repeat(511)}`);
  });

  test("gives an event a name that the server takes, whatever the object's name ends in where it is cut", async () => {
    const desk = new Desk();
    await desk.record({ ...pod, name: `${"a".repeat(235)}-${"b".repeat(17)}` }, added);
    expect(desk.bodyOf(0)["metadata"]).toMatchObject({ name: `${"a".repeat(235)}.0000000000000000` });
  });

  test("writes about a node in the namespace default", async () => {
    const desk = new Desk();
    await desk.record({ apiVersion: "v1", kind: "Node", namespace: "", name: "node1", uid: "node1" }, added);
    expect(desk.asked).toEqual(["POST /api/v1/namespaces/default/events"]);
    expect(desk.bodyOf(0)["involvedObject"]).toEqual({ apiVersion: "v1", kind: "Node", name: "node1", uid: "node1" });
  });

  test("lets no object flood the cluster", async () => {
    const desk = new Desk();
    for (let index = 0; index < 30; index += 1) desk.recorder.record(pod, { ...added, message: String(index) });
    await settleIo();
    expect({ sent: desk.asked.length, suppressed: desk.suppressed }).toEqual({ sent: 25, suppressed: 5 });
    await desk.clock.advance(300_000);
    await desk.record(pod, { ...added, message: "later" });
    expect(desk.asked).toHaveLength(26);
  });

  test("gives up an event of a namespace that is going away", async () => {
    const desk = new Desk();
    desk.errors.push(refusal(403, "unable to create new content in namespace test because it is being terminated"));
    await desk.record(pod, added);
    expect(desk.fates).toEqual(["refused"]);
  });
});
