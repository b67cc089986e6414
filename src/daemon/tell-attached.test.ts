import { describe, expect, test } from "bun:test";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { SpareTime } from "../base/spare-time.ts";
import { jsonValue } from "../cni/json-text.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { aRecord } from "../state/record.fixture.ts";
import type { PodRef } from "./announcer.ts";
import type { NodePorts } from "./node-ports.ts";
import { silentPublisher, type Ended, type OnPostponed, type PodStatus } from "./status-publisher.ts";
import { tellAttached } from "./tell-attached.ts";
import { KeptTimeline } from "./timeline.fixture.ts";

const result = jsonValue({
  cniVersion: "1.0.0",
  interfaces: [{ name: "eth0", sandbox: "/x" }],
  ips: [{ address: "10.0.0.2/24" }, { address: "fd00::2/64" }],
});

/** Tells of one record, with a publisher that answers as the test says. */
class Told {
  readonly record: AttachmentRecord = aRecord(1);
  readonly timeline = new KeptTimeline();
  readonly events: string[] = [];
  readonly statuses: PodStatus[] = [];
  readonly #ports: NodePorts;

  constructor(publish: (onPostponed: OnPostponed) => Promise<Ended>) {
    const ports: Partial<Record<keyof NodePorts, unknown>> = {
      clock: systemClock,
      logger: silentLogger,
      config: { deviceInfoDir: "/nowhere" },
      timeline: this.timeline,
      spareTime: new SpareTime(systemClock),
      announcer: {
        aboutPod: (pod: PodRef, { reason, message }: Record<string, string>) =>
          this.events.push(`${pod.name} ${reason} ${message}`),
      },
      publisher: {
        ...silentPublisher,
        publish: (status: PodStatus, onPostponed: OnPostponed) => {
          this.statuses.push(status);
          return publish(onPostponed);
        },
      },
    };
    this.#ports = ports as NodePorts;
  }

  async tell(results = this.record.chains.map(() => result)): Promise<void> {
    await tellAttached(this.record, results, this.#ports);
  }

  get notes(): readonly string[] {
    const { namespace, name } = this.record.pod;
    return this.timeline
      .of(namespace, name)
      .map(({ what, detail }) => (detail === undefined ? what : `${what}: ${detail}`));
  }
}

describe("tellAttached", () => {
  test("has Multus' event for each interface and the pod's status", async () => {
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

  test("says nothing of results without interfaces and addresses", async () => {
    const told = new Told(() => Promise.resolve("delivered"));
    await told.tell(told.record.chains.map(() => jsonValue({ cniVersion: "1.0.0" })));
    expect({ events: told.events, statuses: told.statuses }).toEqual({ events: [], statuses: [] });
  });

  test("notes once that a status is put off, and its end", async () => {
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
