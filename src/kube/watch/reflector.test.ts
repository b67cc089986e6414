import { afterEach, beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../client/api.ts";
import { FakeApi, gone, page } from "../client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../manual-clock.fixture.ts";
import { HealthFacts } from "./reflector-health.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { Reflector } from "./reflector.ts";
import { projectThing, sameThing, thing, valuesOf, type Thing } from "./thing.fixture.ts";
import type { Change } from "../../view/change.ts";

let clock: ManualClock;
let api: FakeApi;
let reflector: Reflector<Thing>;
let changes: string[];

beforeEach(() => {
  clock = new ManualClock();
  api = new FakeApi();
  changes = [];
  reflector = new Reflector(options());
  reflector.store.onChange((change) => changes.push(changeText(change)));
});

afterEach(async () => reflector.close());

function options(): ReflectorOptions<Thing> {
  return {
    api,
    clock,
    logger: silentLogger,
    resource: "things",
    path: "/things",
    query: { fieldSelector: "a=b" },
    project: projectThing,
    isSame: sameThing,
  };
}

function changeText({ before, now }: Change<Thing>): string {
  return `${now?.name ?? before?.name}: ${before?.value ?? "-"} → ${now?.value ?? "-"}`;
}

function values(): string {
  return valuesOf(reflector);
}

/** Lets time pass while the server ends every watch in time. */
async function pass(ms: number): Promise<void> {
  const endMs = clock.monotonicMs() + ms;
  while (clock.monotonicMs() < endMs) {
    await clock.advance(Math.min(250_000, endMs - clock.monotonicMs()));
    api.watch.end();
    await clock.advance(0);
  }
}

async function start(...things: unknown[]): Promise<void> {
  api.onCall = () => page("10", things);
  reflector.start();
  await settleIo();
}

test("Reflector lists what the server has in memory, and watches from the list's place on", async () => {
  const pages = [page("10", [thing("a", "1")], "next"), page("10", [thing("b", "2")], "last"), page("10", null)];
  api.onCall = () => pages.shift();
  reflector.start();
  await reflector.synced;
  expect(values()).toBe("a=1 b=2");
  expect(api.calls.map(({ search }) => search)).toEqual([
    "?fieldSelector=a%3Db&resourceVersion=0&resourceVersionMatch=NotOlderThan",
    "?fieldSelector=a%3Db&continue=next",
    "?fieldSelector=a%3Db&continue=last",
  ]);
  await settleIo();
  expect(api.watch.url.search).toBe(
    "?fieldSelector=a%3Db&watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=10",
  );
  expect(api.watch.options.idleMs).toBe(150_000);
});

test("Reflector lists a resource that the server does not have in memory in pages of 50", async () => {
  const pages = [page("10", [thing("a", "1")], "next"), page("10", [thing("b", "2")])];
  api.onCall = () => pages.shift();
  reflector = new Reflector({ ...options(), isCached: false });
  reflector.start();
  await reflector.synced;
  expect(values()).toBe("a=1 b=2");
  expect(api.calls.map(({ search }) => search)).toEqual([
    "?fieldSelector=a%3Db&limit=50",
    "?fieldSelector=a%3Db&limit=50&continue=next",
  ]);
});

test("Reflector ends a watch without bookmarks before its silence can mean anything", async () => {
  reflector = new Reflector({ ...options(), isCached: false });
  await start();
  expect(api.watch.url.searchParams.get("timeoutSeconds")).toBe("60");
});

test("Reflector warns of a resource that went, but not of one that the cluster never had", async () => {
  const lines: string[] = [];
  const logger = {
    ...silentLogger,
    info: (line: string) => lines.push(line),
    warn: (line: string) => lines.push(line),
  };
  const absent = new KubeError("api-refused", "there is no such thing", { status: 404 });
  const health = new HealthFacts("things", clock, logger);
  health.failed(absent);
  health.failed(absent);
  health.listed();
  health.failed(absent);
  expect(lines).toEqual([
    "The cluster has no such resource; looking for it now and then",
    "The API server is followed again",
    "The API server cannot be followed; trying again",
  ]);
});

test("Reflector keeps only the projected fields", async () => {
  await start(thing("a", "1"));
  expect(reflector.store.get("ns", "a")).toEqual({ namespace: "ns", name: "a", value: "1" });
});

test("Reflector follows events, and calls no listener for an event without a change", async () => {
  await start(thing("a", "1"), thing("b", "1"));
  changes = [];
  api.watch.event("MODIFIED", thing("a", "2", "11"));
  api.watch.event("MODIFIED", thing("a", "2", "12"));
  api.watch.event("ADDED", thing("c", "3", "13"));
  api.watch.event("DELETED", thing("b", "1", "14"));
  await settleIo();
  expect(values()).toBe("a=2 c=3");
  expect(changes).toEqual(["a: 1 → 2", "c: - → 3", "b: 1 → -"]);
});

test("Reflector resumes a watch that ended from the last bookmark, without a list", async () => {
  await start(thing("a", "1"));
  api.watch.event("BOOKMARK", { metadata: { resourceVersion: "99" } });
  api.watch.end();
  await clock.advance(1000);
  expect(api.watches.map(({ from }) => from)).toEqual(["10", "99"]);
  expect(api.calls.length).toBe(1);
  expect(reflector.health()).toMatchObject({ lists: 1, reconnects: 0, lastError: undefined });
});

test("Reflector lists soon when the server is back and has forgotten its place: the pauses of the outage are over", async () => {
  clock.chance = 1;
  await start(thing("a", "1"));
  const away = (): KubeError => new KubeError("api-unreachable", "away");
  api.watchErrors.push(away(), away(), away(), away(), away(), away(), gone());
  api.watch.fail(away());
  await clock.advance(61_500);
  expect(api.watchErrors).toEqual([]);
  api.onCall = () => page("20", [thing("b", "2")]);
  await clock.advance(1_000);
  expect(values()).toBe("b=2");
});

for (const [how, expire] of [
  ["as an event", () => api.watch.event("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "old" })],
  ["as a refusal", () => api.watch.fail(gone())],
] as const) {
  test(`Reflector lists again when its place is gone (${how}), and is never empty meanwhile`, async () => {
    await start(thing("a", "1"), thing("b", "1"));
    changes = [];
    const { promise: listed, resolve } = Promise.withResolvers<unknown>();
    api.onCall = () => listed;
    expire();
    await clock.advance(1000);
    expect(api.calls.length).toBe(2);
    expect(values()).toBe("a=1 b=1");
    resolve(page("50", [thing("b", "2"), thing("c", "1")]));
    await settleIo();
    expect(values()).toBe("b=2 c=1");
    expect(changes).toEqual(["b: 1 → 2", "c: - → 1", "a: 1 → -"]);
    expect(api.watch.from).toBe("50");
    expect(reflector.health()).toMatchObject({ lists: 2, missedEvents: 0, lastError: undefined });
  });
}

test("Reflector starts a list again that expired between two pages", async () => {
  let lists = 0;
  api.onCall = ({ searchParams }) => {
    if (searchParams.has("continue")) {
      if (lists === 1) throw gone();
      return page("20", [thing("b", "2")]);
    }
    lists += 1;
    return page("20", [thing("a", String(lists))], "next");
  };
  reflector.start();
  await clock.advance(1000);
  expect(values()).toBe("a=2 b=2");
  expect(changes).toEqual(["a: - → 2", "b: - → 2"]);
});

test("Reflector asks for smaller pages when one is too large", async () => {
  api.onCall = ({ searchParams }) => {
    if (searchParams.get("limit") === "50")
      throw new KubeError("api-unreachable", "too large", { reason: "ResponseTooLarge" });
    return page("10", [thing("a", "1")]);
  };
  reflector = new Reflector({ ...options(), isCached: false });
  reflector.start();
  await settleIo();
  expect(api.calls.map(({ searchParams }) => searchParams.get("limit"))).toEqual(["50", "5"]);
  expect(values()).toBe("a=1");
});

for (const line of [
  '{"type":"ADDED","object":{"metadata"',
  '{"type":"STRANGE","object":{}}',
  '{"type":"ADDED"}',
  "7",
]) {
  test(`Reflector takes a line it cannot read for an error and reconnects: ${line}`, async () => {
    await start(thing("a", "1"));
    api.watch.line(line);
    await settleIo();
    expect(reflector.health()).toMatchObject({ reconnects: 1, isUnreachable: true });
    expect(reflector.health().lastError).toContain(line);
    await clock.advance(1000);
    expect(api.watches.map(({ from }) => from)).toEqual(["10", "10"]);
    expect(reflector.health().lastError).toBeUndefined();
  });
}

test("Reflector takes a new list when the same resourceVersion brings an unreadable line twice", async () => {
  await start(thing("a", "1"));
  api.onCall = () => page("20", [thing("a", "2")]);
  api.watch.line("7");
  await clock.advance(1000);
  expect(api.calls.length).toBe(1);
  api.watch.line("7");
  await clock.advance(1000);
  expect(api.watches.map(({ from }) => from)).toEqual(["10", "10", "20"]);
  expect(values()).toBe("a=2");
});

test("Reflector takes a new list when the same resourceVersion brings a line that is too long twice", async () => {
  await start();
  for (let count = 0; count < 2; count += 1) {
    api.watch.fail(new KubeError("api-unreachable", "a line is too long", { reason: "ResponseTooLarge" }));
    await clock.advance(1000);
  }
  expect(api.calls.length).toBe(2);
});

test("Reflector stays away as long as the server asks, and a jittered while more", async () => {
  await start();
  clock.chance = 0.5;
  api.watch.fail(new KubeError("api-refused", "busy", { status: 429, retryAfterMs: 7000 }));
  await clock.advance(7249);
  expect(api.watches.length).toBe(1);
  await clock.advance(2);
  expect(api.watches.length).toBe(2);
});

test("Reflector doubles its pauses up to 30 s, and resets them after a long watch", async () => {
  await start();
  clock.chance = 1;
  const pauses: number[] = [];
  const failNext = async (): Promise<void> => {
    const begunMs = clock.monotonicMs();
    const { length } = api.watches;
    api.watch.fail(new KubeError("api-unreachable", "cut"));
    while (api.watches.length === length) await clock.advance(100);
    pauses.push(clock.monotonicMs() - begunMs);
  };
  for (let count = 0; count < 9; count += 1) await failNext();
  await clock.advance(60_000);
  await failNext();
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 500]);
});

test("Reflector ends a watch itself that the server should have ended 30 s ago", async () => {
  await start();
  clock.chance = 1;
  await clock.advance(329_999);
  expect(api.watches.length).toBe(1);
  await clock.advance(1);
  expect(reflector.health().lastError).toBe("Cannot watch things: the server did not end the watch after 300 s");
  await clock.advance(1000);
  expect(api.watches.length).toBe(2);
});

test("Reflector lists again when its place is refused three times in a row, but not for want of time", async () => {
  await start();
  const refusal = (status: number): KubeError => new KubeError("api-refused", "no", { status });
  api.watchErrors.push(...[429, 429, 429, 429, 504].map(refusal));
  api.watch.fail(refusal(429));
  await clock.advance(1);
  expect(api.calls.length).toBe(2);
  expect(api.watches.length).toBe(2);
});

test("Reflector knows since when and why the server is away, and serves its copy", async () => {
  await start(thing("a", "1"));
  clock.chance = 1;
  await clock.advance(20_000);
  const sinceMs = clock.wallMs();
  api.watchErrors.push(
    new KubeError("api-unreachable", "refused"),
    new KubeError("api-refused", "no", { status: 403 }),
  );
  api.watch.fail(new KubeError("api-unreachable", "cut"));
  await settleIo();
  expect(reflector.health()).toMatchObject({ lastError: "cut", failingSinceMs: sinceMs, isUnreachable: true });
  await clock.advance(500);
  expect(reflector.health()).toMatchObject({ lastError: "refused", failingSinceMs: sinceMs, lastEventAgeMs: 20_500 });
  await clock.advance(1000);
  expect(reflector.health()).toMatchObject({ lastError: "no", failingSinceMs: sinceMs, isUnreachable: false });
  expect(values()).toBe("a=1");
  await clock.advance(2000);
  expect(reflector.health()).toMatchObject({ lastError: undefined, failingSinceMs: undefined, reconnects: 3 });
});

test("Reflector finds events that were missed, counts them, and trusts that watch no more", async () => {
  await start(thing("a", "1"), thing("b", "1"), thing("same", "1"));
  changes = [];
  const kept = reflector.store.get("ns", "same");
  await pass(1_790_000);
  api.onCall = () => page("70", [thing("a", "2"), thing("c", "1"), thing("same", "1")]);
  await clock.advance(20_000);
  expect(values()).toBe("a=2 same=1 c=1");
  expect(reflector.store.get("ns", "same")).toBe(kept as Thing);
  expect(changes.toSorted()).toEqual(["a: 1 → 2", "b: 1 → -", "c: - → 1"]);
  expect(reflector.health()).toMatchObject({ missedEvents: 3, lists: 2, reconnects: 0, lastError: undefined });
  expect(api.watch.from).toBe("70");
});

test("Reflector does not count a late event as missed", async () => {
  await start(thing("a", "1"), thing("b", "1"));
  await pass(1_799_000);
  const { length } = api.watches;
  const { promise: listed, resolve } = Promise.withResolvers<unknown>();
  api.onCall = () => listed;
  await clock.advance(1000);
  // One event overtakes the list, the other comes after it.
  api.watch.event("MODIFIED", thing("a", "3", "81"));
  await settleIo();
  resolve(page("80", [thing("a", "2"), thing("b", "2")]));
  await clock.advance(2000);
  api.watch.event("MODIFIED", thing("b", "2", "82"));
  await clock.advance(4000);
  expect(values()).toBe("a=3 b=2");
  expect(reflector.health()).toMatchObject({ missedEvents: 0, lists: 2 });
  expect(api.watches.length).toBe(length);
});

test("Reflector goes on when the comparing list fails, and when a listener throws", async () => {
  reflector.store.onChange(() => {
    throw new Error("a defect");
  });
  await start(thing("a", "1"));
  await clock.advance(235_000);
  api.watch.end();
  api.onCall = () => {
    throw new KubeError("api-unreachable", "cut");
  };
  await clock.advance(310_000);
  api.watch.event("MODIFIED", thing("a", "2", "11"));
  await settleIo();
  expect(values()).toBe("a=2");
});

test("Reflector reports an absent resource and goes on asking for it", async () => {
  api.onCall = () => {
    throw new KubeError("api-refused", "no such thing", { status: 404, reason: "NotFound" });
  };
  reflector.start();
  await settleIo();
  expect(reflector.isAbsent).toBe(true);
  expect(reflector.health()).toMatchObject({ isSynced: false, lists: 0, isUnreachable: false });
  api.onCall = () => page("10", [thing("a", "1")]);
  await clock.advance(1000);
  expect(reflector.isAbsent).toBe(false);
  expect(values()).toBe("a=1");
});

test("Reflector stops for good when closed, at any time", async () => {
  await start();
  await reflector.close();
  await clock.advance(2_000_000);
  expect(api.watches.length).toBe(1);
  expect(api.calls.length).toBe(1);
});

test("Reflector slows down to 30 s when its place expires again and again", async () => {
  clock.chance = 1;
  await start(thing("a", "1"));
  const expireAll = async (): Promise<void> => {
    const { length } = api.watches;
    api.watch.fail(gone());
    while (api.watches.length === length) await clock.advance(100);
  };
  const pauses: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    const begunMs = clock.monotonicMs();
    await expireAll();
    pauses.push(clock.monotonicMs() - begunMs);
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  await clock.advance(60_000);
  const begunMs = clock.monotonicMs();
  await expireAll();
  expect(clock.monotonicMs() - begunMs).toBe(500);
});

test("Reflector asks for a list that is not behind its own place, unless the server cannot get there", async () => {
  await start(thing("a", "1"));
  const tooNew = new KubeError("api-refused", "too large resource version", { status: 504 });
  api.onCall = ({ searchParams }) => {
    if (searchParams.get("resourceVersion") !== "0") throw tooNew;
    return page("3", [thing("a", "old")]);
  };
  api.watch.fail(gone());
  await clock.advance(5000);
  const asked = api.calls.map(({ searchParams }) => searchParams.get("resourceVersion"));
  expect(asked).toEqual(["0", "10", "0"]);
  expect(values()).toBe("a=old");
});

test("HealthFacts takes a watch that is opened and refused at once for nothing heard", async () => {
  const facts = new HealthFacts("things", clock, silentLogger);
  facts.listed();
  await clock.advance(60_000);
  facts.opened();
  await clock.advance(10);
  facts.failed(new KubeError("api-refused", "storage is (re)initializing", { status: 429 }));
  expect(facts.facts(1).lastEventAgeMs).toBe(60_010);
  facts.opened();
  await clock.advance(20_000);
  facts.failed(new KubeError("api-unreachable", "cut"));
  expect(facts.facts(1).lastEventAgeMs).toBe(20_000);
});
