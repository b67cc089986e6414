import { describe, expect, test } from "bun:test";
import { settle, VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { atMostAtOnce, type Caller, type CallResult, type CallVerb, type StormSandbox } from "./caller/caller.ts";
import { Fleet, type FleetPod } from "./fleet.ts";

const ok: CallResult = { isOk: true, message: "" };
const broken: CallResult = { isOk: false, code: 11, message: "try later" };

/** Answers by a script and keeps what it was asked. */
class ScriptedCaller implements Caller {
  readonly running = new Set<number>();
  readonly calls: { readonly verb: CallVerb; readonly sandbox: StormSandbox }[] = [];
  readonly #answer: (verb: CallVerb, nth: number) => CallResult | Promise<CallResult>;

  constructor(answer: (verb: CallVerb, nth: number) => CallResult | Promise<CallResult>) {
    this.#answer = answer;
  }

  async call(verb: CallVerb, sandbox: StormSandbox): Promise<CallResult> {
    this.calls.push({ verb, sandbox });
    return await this.#answer(verb, this.calls.length);
  }

  get verbs(): string {
    return this.calls.map(({ verb }) => verb).join(" ");
  }
}

function pods(count: number): readonly FleetPod[] {
  return Array.from({ length: count }, (_, at) => ({ namespace: "burst", name: `p${at}`, uid: `u${at}` }));
}

function fleetOf(caller: Caller, seed = 7): { fleet: Fleet; clock: VirtualClock; renewed: string[] } {
  const clock = new VirtualClock();
  const renewed: string[] = [];
  const netns = {
    path: (name: string) => `/ns/${name}`,
    async renew(name: string) {
      renewed.push(name);
    },
  };
  return { fleet: new Fleet({ clock, caller, netns, seed }), clock, renewed };
}

const never = new AbortController().signal;

describe("Fleet", () => {
  test("adds all pods at once, each with its own container and namespace", async () => {
    const caller = new ScriptedCaller(() => ok);
    const { fleet } = fleetOf(caller);
    await fleet.arrive(pods(3), never);
    expect(fleet.count("attached")).toBe(3);
    expect(new Set(caller.calls.map(({ sandbox }) => sandbox.containerId)).size).toBe(3);
    expect(caller.calls.map(({ sandbox }) => sandbox.netnsPath)).toEqual([
      "/ns/burst.p0",
      "/ns/burst.p1",
      "/ns/burst.p2",
    ]);
  });

  test("after a failed ADD deletes that sandbox, waits 10 to 15 s and tries with a new one in a new namespace", async () => {
    const caller = new ScriptedCaller((_, nth) => (nth === 1 ? broken : ok));
    const { fleet, clock, renewed } = fleetOf(caller);
    const arrived = fleet.arrive(pods(1), never);
    await clock.advance(9_999);
    expect(caller.verbs).toBe("ADD DEL");
    expect(fleet.count("backing-off")).toBe(1);
    await clock.advance(5_001);
    await arrived;
    const [first, del, second] = caller.calls.map(({ sandbox }) => sandbox.containerId);
    expect(caller.verbs).toBe("ADD DEL ADD");
    expect(del).toBe(first);
    expect(second).not.toBe(first);
    expect(renewed).toEqual(["burst.p0"]);
    expect(fleet.records[0]).toMatchObject({ attempts: 2, errors: [{ atMs: 0, message: "try later (CNI code 11)" }] });
  });

  test("the same seed gives the same waits, another seed others", async () => {
    const attachedAt = async (seed: number): Promise<readonly unknown[]> => {
      const { fleet, clock } = fleetOf(new ScriptedCaller((_, nth) => (nth <= 5 ? broken : ok)), seed);
      const arrived = fleet.arrive(pods(5), never);
      await clock.advance(60_000);
      await arrived;
      return fleet.records.map(({ attachedMs }) => attachedMs);
    };
    expect(await attachedAt(3)).toEqual(await attachedAt(3));
    expect(await attachedAt(3)).not.toEqual(await attachedAt(4));
  });

  test("does not try again while the DEL of the last sandbox fails", async () => {
    const caller = new ScriptedCaller((verb, nth) => (verb === "ADD" || nth < 4 ? broken : ok));
    const { fleet, clock } = fleetOf(caller);
    const stop = new AbortController();
    const arrived = fleet.arrive(pods(1), stop.signal);
    await clock.advance(31_000);
    expect(caller.verbs).toMatch(/^ADD DEL DEL DEL/u);
    expect(fleet.records[0]?.delErrors).toHaveLength(2);
    stop.abort();
    await arrived;
  });

  test("does not count as an error what ends with the trying", async () => {
    const stop = new AbortController();
    const caller = new ScriptedCaller((verb) => {
      if (verb === "ADD") stop.abort();
      return verb === "ADD" ? broken : ok;
    });
    const { fleet } = fleetOf(caller);
    await fleet.arrive(pods(1), stop.signal);
    expect(fleet.records[0]).toMatchObject({ attempts: 1, errors: [] });
    expect(caller.verbs).toBe("ADD DEL");
  });

  test("ends its trying at once when told, and deleteAll still deletes what has a sandbox", async () => {
    const caller = new ScriptedCaller((verb, nth) => (verb === "ADD" && nth === 2 ? broken : ok));
    const { fleet, clock } = fleetOf(caller);
    const stop = new AbortController();
    const arrived = fleet.arrive(pods(2), stop.signal);
    await settle();
    stop.abort();
    await arrived;
    await fleet.deleteAll(never);
    expect(fleet.records.map(({ phase }) => phase)).toEqual(["deleted", "backing-off"]);
    expect(caller.verbs).toBe("ADD ADD DEL DEL");
    expect(clock.timers).toBe(0);
  });
});

describe("atMostAtOnce", () => {
  test("lets no more run than allowed, and the next in order", async () => {
    const open: (() => void)[] = [];
    const caller = new ScriptedCaller(() => new Promise((resolve) => void open.push(() => resolve(ok))));
    const { fleet } = fleetOf(atMostAtOnce(caller, 2));
    const arrived = fleet.arrive(pods(5), never);
    await settle();
    expect(caller.calls.map(({ sandbox }) => sandbox.name)).toEqual(["p0", "p1"]);
    while (open.length > 0) {
      open.shift()?.();
      await settle();
      expect(open.length).toBeLessThanOrEqual(2);
    }
    await arrived;
    expect(caller.calls.map(({ sandbox }) => sandbox.name)).toEqual(["p0", "p1", "p2", "p3", "p4"]);
  });
});
