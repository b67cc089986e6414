import { describe, expect, test } from "bun:test";
import { LogFlood, type LogLine } from "./log-flood.ts";
import type { LogFields, LogLevel } from "./log-level.ts";
import { VirtualClock } from "./virtual-clock.fixture.ts";

function setUp(): {
  readonly clock: VirtualClock;
  readonly flood: LogFlood;
  readonly written: LogLine[];
  readonly say: (level: LogLevel, message: string, fields?: LogFields) => void;
} {
  const clock = new VirtualClock();
  const written: LogLine[] = [];
  const flood = new LogFlood(clock, (line) => written.push(line));
  const say = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    const line = { level, message, fields };
    if (flood.passes(line)) written.push(line);
  };
  return { clock, flood, written, say };
}

/** How often something happened, as a reader of the log counts it. */
function timesIn(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { fields }) => sum + Number(fields["times"] ?? 1), 0);
}

function failure(index: number, changes: LogFields = {}): LogFields {
  return {
    verb: "ADD",
    class: "ordinary",
    namespace: "shop",
    pod: `web-${index}`,
    container: `c${index}`,
    attempt: index,
    waitedMs: index,
    tookMs: 100 + index,
    code: "delegate-failed",
    reason: `shop/vlan57 (net1): no address for web-${index} in 10.0.${index}.0/24`,
    ...changes,
  };
}

describe("LogFlood", () => {
  test("makes 219 failures of one kind two lines, the first at once", async () => {
    const { clock, written, say } = setUp();
    for (let index = 0; index < 219; index += 1) say("warn", "Not served", failure(index));
    expect(written).toEqual([{ level: "warn", message: "Not served", fields: failure(0) }]);
    await clock.advance(10_000);
    expect(written).toHaveLength(2);
    expect(written[1]?.fields).toEqual({
      verb: "ADD",
      class: "ordinary",
      code: "delegate-failed",
      reason: "shop/vlan57 (net1): no address for web-218 in 10.0.218.0/24",
      times: 218,
      withinMs: 10_000,
      tookMsMin: 101,
      tookMsMax: 318,
      waitedMsMin: 1,
      waitedMsMax: 218,
      pods: ["shop/web-1", "shop/web-2", "shop/web-3", "shop/web-4", "shop/web-5"],
    });
  });

  test("writes one line per window while a storm lasts, and the first of the next one at once", async () => {
    const { clock, written, say, flood } = setUp();
    for (let second = 0; second < 30; second += 1) {
      for (let index = 0; index < 10; index += 1) say("warn", "Not served", failure(index));
      await clock.advance(1_000);
    }
    expect(written).toHaveLength(4);
    expect(timesIn(written)).toBe(300);
    await clock.advance(20_000);
    expect(clock.timers).toBe(0);
    say("warn", "Not served", failure(1));
    expect(timesIn(written)).toBe(301);
    expect(flood.summed).toBe(299);
  });

  test("tells different failures apart: other network, other code, other words", () => {
    const { written, say } = setUp();
    say("warn", "Not served", failure(1));
    say("warn", "Not served", failure(2, { code: "delegate-timeout" }));
    say("warn", "Not served", failure(3, { reason: "shop/mgmt (net1): no address for web-3 in 10.0.3.0/24" }));
    say("warn", "Not served", failure(4, { reason: "shop/vlan57 (net1): the link is down" }));
    say("warn", "A network is not ready", { network: "shop/a" });
    say("warn", "A network is not ready", { network: "shop/b" });
    expect(written).toHaveLength(6);
  });

  test("writes a single held-back line as it is", async () => {
    const { clock, written, say } = setUp();
    say("warn", "Not served", failure(1));
    say("warn", "Not served", failure(2));
    await clock.advance(10_000);
    expect(written[1]).toEqual({ level: "warn", message: "Not served", fields: failure(2) });
  });

  test("writes twenty info lines of one kind, then sums them up by verb and class", async () => {
    const { clock, written, say } = setUp();
    for (let index = 0; index < 219; index += 1)
      say("info", "Served", { verb: "ADD", class: "ordinary", pod: `p${index}`, tookMs: index, code: "ok" });
    say("info", "Served", { verb: "ADD", class: "critical", pod: "dns", tookMs: 3, code: "ok" });
    say("info", "Served", { verb: "DEL", class: "detach", pod: "old", tookMs: 3, code: "ok" });
    expect(written).toHaveLength(22);
    await clock.advance(10_000);
    expect(written).toHaveLength(23);
    expect(written[22]?.fields).toMatchObject({ verb: "ADD", times: 199, tookMsMin: 20, tookMsMax: 218 });
    expect(timesIn(written)).toBe(221);
  });

  test("keeps a bounded number of kinds, and still counts the rest", async () => {
    const { clock, written, say } = setUp();
    const word = (index: number): string => [...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("");
    for (let index = 0; index < 1_000; index += 1) say("error", `kind ${word(index)}`, { reason: word(index) });
    expect(written).toHaveLength(65);
    await clock.advance(10_000);
    expect(written).toHaveLength(66);
    expect(written[65]).toMatchObject({
      message: "Lines of many kinds, the last: kind jjj",
      fields: { reason: "jjj", times: 935 },
    });
    expect(timesIn(written)).toBe(1_000);
  });

  test("flush writes what is held back at once and leaves no timer", () => {
    const { clock, written, say, flood } = setUp();
    for (let index = 0; index < 5; index += 1) say("error", "again");
    flood.flush();
    expect(timesIn(written)).toBe(5);
    expect(clock.timers).toBe(0);
  });
});
