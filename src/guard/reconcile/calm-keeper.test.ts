import { expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import type { KubeRequest } from "../../kube/client/api.ts";
import { ConfigMapServer } from "../act/config-map-server.fixture.ts";
import { calmWorld, daemons, dayMs, mebibyte, views } from "../decide/lower/calm.fixture.ts";
import { parseCalms } from "../decide/lower/calm-text.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { minuteMs, nowMs } from "../world.fixture.ts";
import { CalmKeeper } from "./calm-keeper.ts";

/** A guard that looks at a cluster, and a ConfigMap that outlives it. */
class Leader {
  readonly server: ConfigMapServer;
  readonly keeper: CalmKeeper;
  isCurrent = true;
  isHeld = true;
  isLost = false;
  writes = 0;
  nowMs: number;

  constructor(before?: Leader) {
    this.server = before?.server ?? new ConfigMapServer();
    this.nowMs = before?.nowMs ?? nowMs;
    const call = async (request: KubeRequest): Promise<string> => {
      if (this.isLost) throw new Error("the connection was cut");
      if (request.method !== "GET") this.writes += 1;
      return await this.server.call(request);
    };
    const api = { call, lines: () => this.server.lines() };
    this.keeper = new CalmKeeper({ api, logger: silentLogger, settings });
  }

  async look(facts: Partial<World> = {}): Promise<void> {
    const source = { isCurrent: () => this.isCurrent, world: () => calmWorld({ nowMs: this.nowMs, ...facts }) };
    await this.keeper.look(source, { isHeld: () => this.isHeld });
  }

  async minutes(count: number, facts: (ms: number) => Partial<World> = () => ({})): Promise<void> {
    for (let minute = 0; minute < count; minute += 1) {
      this.nowMs += minuteMs;
      await this.look(facts(this.nowMs));
    }
  }

  get stored(): string {
    return this.server.object?.data["memory-calm"] ?? "";
  }
}

test("CalmKeeper writes every ten minutes while there is a raise to watch, and nothing otherwise", async () => {
  const quiet = new Leader();
  await quiet.look({ daemonSets: [] });
  expect(quiet.writes).toBe(0);
  expect(quiet.keeper.calms).toEqual([]);
  const leader = new Leader();
  await leader.minutes(60);
  expect(leader.writes).toBe(6);
  expect(parseCalms(leader.stored)).toMatchObject([{ peakBytes: 100 * mebibyte, broken: "" }]);
});

test("CalmKeeper goes on where another leader was, and writes at once what a lost record would hide", async () => {
  const first = new Leader();
  await first.minutes(20);
  const since = first.keeper.calms?.[0]?.sinceMs;
  const second = new Leader(first);
  await second.minutes(1);
  expect(second.keeper.calms?.[0]?.sinceMs).toBe(since);
  second.writes = 0;
  await second.minutes(1, (ms) => ({ nodeViews: views(ms, { memoryBytes: 300 * mebibyte }) }));
  expect(second.writes).toBe(1);
  await second.minutes(1, (ms) => ({ pods: daemons({ oomKilledMs: ms }) }));
  expect(second.writes).toBe(2);
  expect(parseCalms(second.stored)[0]?.broken).toContain("was killed for memory");
  // During the trouble itself the record is not written at every look.
  await second.minutes(5, (ms) => ({ nodeViews: views(ms, { memoryBytes: 900 * mebibyte }) }));
  expect(second.writes).toBeLessThan(5);
});

test("CalmKeeper knows nothing while the record cannot be read, and begins anew when it is garbled or gone", async () => {
  const leader = new Leader();
  leader.isLost = true;
  await leader.look();
  expect(leader.keeper.calms).toBeUndefined();
  leader.isLost = false;
  await leader.look();
  expect(leader.keeper.calms).toHaveLength(1);
  leader.server.object = { metadata: { resourceVersion: "9" }, data: { "memory-calm": "[{" } };
  const next = new Leader(leader);
  next.nowMs += 8 * dayMs;
  await next.look();
  expect(next.keeper.calms?.[0]?.sinceMs).toBe(next.nowMs);
});

test("CalmKeeper learns nothing while it is blind, and writes nothing without the lead", async () => {
  const leader = new Leader();
  leader.isCurrent = false;
  await leader.look();
  expect(leader.keeper.calms).toBeUndefined();
  leader.isCurrent = true;
  leader.isHeld = false;
  await leader.look();
  expect(leader.keeper.calms).toHaveLength(1);
  expect(leader.writes).toBe(0);
});
