import { describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { SpareTime } from "../../base/spare-time.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import type { Chain } from "../../cni/chain.ts";
import { jsonValue } from "../../cni/json-text.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { silentStatusTeller, type OnPostponed, type PodStatus } from "./status-teller.ts";
import { AttachedTeller } from "./tell-attached.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { until } from "../../base/until.fixture.ts";
import type { Fate } from "../../kube/outbox/letter.ts";

const result = jsonValue({
  cniVersion: "1.0.0",
  interfaces: [{ name: "eth0", sandbox: "/x" }],
  ips: [{ address: "10.0.0.2/24" }, { address: "fd00::2/64" }],
});

/** Tells one record, with a statusTeller that answers as the test says. */
class Told {
  readonly record: AttachmentRecord = { ...aRecord(1), results: aRecord(1).chains.map(() => result) };
  readonly timeline = new KeptTimeline();
  readonly events: string[] = [];
  readonly statuses: PodStatus[] = [];
  /** The networks that claims were told to have lost, once for each time that they were told something. */
  readonly claims: (readonly string[])[] = [];
  /** The record in the journal, and whether recovery still has to look at it. */
  kept: AttachmentRecord | undefined = { ...this.record, phase: "committed" };
  isPending = (): boolean => false;
  isBusy = false;
  readonly #teller: AttachedTeller;

  constructor(tell: (onPostponed: OnPostponed) => Promise<Fate>, clock: Clock = systemClock) {
    const statusTime = new SpareTime(clock, { keptMsMax: 10_000, keptMax: 250 });
    statusTime.watch(() => this.isBusy);
    this.#teller = new AttachedTeller({
      clock,
      journal: { findByToken: () => this.kept },
      isPending: () => this.isPending(),
      logger: silentLogger,
      config: { deviceInfoDir: "/nowhere" },
      timeline: this.timeline,
      idle: new SpareTime(systemClock),
      statusTime,
      eventTeller: {
        aboutPod: (pod, { reason, message }) => void this.events.push(`${pod.name} ${reason} ${message}`),
      },
      claimTeller: {
        tell: (_pod, current, gone) => {
          expect(current()).toBe(this.kept);
          this.claims.push(gone.map(({ ifname }) => ifname));
        },
      },
      statusTeller: {
        ...silentStatusTeller,
        tell: (status: PodStatus, onPostponed: OnPostponed = () => undefined) => {
          this.statuses.push(status);
          return tell(onPostponed);
        },
      },
    });
  }

  async tell(results = this.record.results): Promise<void> {
    this.kept = { ...this.record, phase: "committed", results };
    await this.#teller.tellNow(this.record.token);
  }

  tellChange(gone: readonly Chain[]): void {
    this.#teller.tellChange(this.record, { gone, came: [] });
  }

  tellSoon(): void {
    this.#teller.tellSoon(this.record.token);
  }

  get notes(): readonly string[] {
    const { namespace, name } = this.record.pod;
    return this.timeline
      .of(namespace, name)
      .map(({ what, detail }) => (detail === undefined ? what : `${what}: ${detail}`));
  }
}

describe("AttachedTeller", () => {
  test("tells the claims of devices after an ADD, and after a change with the networks that are gone", async () => {
    const told = new Told(() => Promise.resolve("delivered"));
    await told.tell();
    const [first] = told.record.chains;
    told.tellChange([first!]);
    expect(told.claims).toEqual([[], [first!.ifname]]);
  });

  test("tells Multus' event for each interface, and the pod's status", async () => {
    const told = new Told(() => Promise.resolve("delivered"));
    await told.tell();
    const { pod, containerId, chains } = told.record;
    expect(told.events).toEqual(
      chains.map(
        ({ ifname, network }) => `${pod.name} AddedInterface Add ${ifname} [10.0.0.2/24 fd00::2/64] from ${network}`,
      ),
    );
    expect(told.statuses).toMatchObject([{ pod, containerId, annotation: expect.stringContaining('"10.0.0.2"') }]);
    expect(told.notes).toEqual(["published"]);
  });

  test("tells nothing for results without interfaces and addresses", async () => {
    const told = new Told(() => Promise.resolve("delivered"));
    await told.tell(told.record.chains.map(() => jsonValue({ cniVersion: "1.0.0" })));
    expect({ events: told.events, statuses: told.statuses }).toEqual({ events: [], statuses: [] });
  });

  test("notes once that a status is postponed, and its end", async () => {
    const told = new Told((onPostponed) => {
      onPostponed("the API server does not answer");
      onPostponed("connection refused");
      return Promise.resolve("delivered");
    });
    await told.tell();
    expect(told.notes).toEqual([
      "publishing: network-status is tried again: the API server does not answer",
      "published",
    ]);
  });

  test("never fails the ADD", async () => {
    const told = new Told(() => {
      throw new Error("a defect");
    });
    await told.tell();
    await told.tell([jsonValue({ interfaces: 7 })]);
    expect(told.statuses).toHaveLength(1);
  });
});

describe("tellSoon", () => {
  function soon(): { told: Told; clock: VirtualClock } {
    const clock = new VirtualClock();
    return { told: new Told(() => Promise.resolve("delivered"), clock), clock };
  }

  test("tells a committed attachment, a moment later", async () => {
    const { told, clock } = soon();
    told.tellSoon();
    expect(told.statuses).toEqual([]);
    await clock.advance(5);
    await until("the status is told", () => told.statuses.length > 0);
    expect(told.statuses).toHaveLength(1);
  });

  test("waits while calls wait, but ten seconds at most", async () => {
    for (const calmMs of [3_000, 60_000]) {
      const { told, clock } = soon();
      told.isBusy = true;
      told.tellSoon();
      await clock.advance(2_900);
      expect(told.statuses).toEqual([]);
      clock.after(calmMs - 2_900, () => (told.isBusy = false));
      await clock.advance(7_200);
      await until("the status is told", () => told.statuses.length > 0);
      expect(told.statuses).toHaveLength(1);
    }
  });

  test("does not tell an attachment that recovery undoes", async () => {
    const { told, clock } = soon();
    told.isPending = () => true;
    told.tellSoon();
    await clock.advance(1_000);
    told.kept = undefined;
    told.isPending = () => false;
    await clock.advance(300_000);
    await systemClock.sleep(20);
    expect({ statuses: told.statuses, events: told.events }).toEqual({ statuses: [], events: [] });
  });

  test.each([{ phase: "undoing" }, { delAttempts: 1 }] as const)("does not tell one that is %p", async (change) => {
    const { told, clock } = soon();
    told.kept = { ...told.record, phase: "acknowledged", ...change };
    told.tellSoon();
    await clock.advance(5);
    await systemClock.sleep(20);
    expect(told.statuses).toEqual([]);
  });

  test("tells one that recovery finds acknowledged", async () => {
    const { told, clock } = soon();
    told.isPending = () => true;
    told.tellSoon();
    await clock.advance(1_000);
    told.kept = { ...told.record, phase: "acknowledged" };
    await clock.advance(2_000);
    await until("the status is told", () => told.statuses.length > 0);
    expect(told.statuses).toHaveLength(1);
  });

  test("looks again after reading the device files: the shim may have gone meanwhile", async () => {
    const { told, clock } = soon();
    let looks = 0;
    told.isPending = () => (looks += 1) > 1;
    told.tellSoon();
    await clock.advance(5);
    await until("it has looked again", () => looks > 1);
    expect({ looks, statuses: told.statuses }).toEqual({ looks: 2, statuses: [] });
  });
});
