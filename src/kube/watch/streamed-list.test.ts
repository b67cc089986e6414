import { afterEach, beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../client/api.ts";
import { FakeApi, gone, page } from "../client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../manual-clock.fixture.ts";
import { Reflector } from "./reflector.ts";
import { projectThing, sameThing, thing, valuesOf, type Thing } from "./thing.fixture.ts";

let clock: ManualClock;
let api: FakeApi;
let reflector: Reflector<Thing>;

beforeEach(() => {
  clock = new ManualClock();
  api = new FakeApi();
  api.streamsLists = true;
  reflector = new Reflector({
    api,
    clock,
    logger: silentLogger,
    resource: "things",
    path: "/things",
    project: projectThing,
    isSame: sameThing,
  });
  reflector.start();
});

afterEach(async () => reflector.close());

function endOfList(resourceVersion: string): unknown {
  return { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } };
}

function values(): string {
  return valuesOf(reflector);
}

async function listed(...things: unknown[]): Promise<void> {
  await settleIo();
  for (const one of things) api.watch.event("ADDED", one);
  api.watch.event("BOOKMARK", endOfList("10"));
  await settleIo();
}

test("Reflector takes the list from the watch itself, at once and whole", async () => {
  await settleIo();
  expect(api.watch.url.search).toBe(
    "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
  );
  api.watch.event("ADDED", thing("a", "1", "4"));
  api.watch.event("ADDED", thing("b", "1", "5"));
  api.watch.event("BOOKMARK", { metadata: { resourceVersion: "6" } });
  await settleIo();
  expect(reflector.health()).toMatchObject({ isSynced: false, objects: 0 });
  api.watch.event("BOOKMARK", endOfList("10"));
  await reflector.synced;
  expect(values()).toBe("a=1 b=1");
  api.watch.event("DELETED", thing("a", "1", "11"));
  api.watch.event("ADDED", thing("c", "1", "12"));
  await settleIo();
  expect(values()).toBe("b=1 c=1");
  api.watch.end();
  await clock.advance(1000);
  expect(api.watches.map(({ from }) => from)).toEqual(["0", "12"]);
  expect(api.calls).toEqual([]);
});

test("Reflector keeps its copy until a later list is whole, and starts a list again that was cut", async () => {
  await listed(thing("a", "1", "4"), thing("b", "1", "5"));
  api.watch.fail(gone());
  await clock.advance(1000);
  expect(api.watch.url.searchParams.get("resourceVersion")).toBe("10");
  api.watch.event("ADDED", thing("c", "1", "20"));
  api.watch.fail(new KubeError("api-unreachable", "cut"));
  await clock.advance(5000);
  expect(values()).toBe("a=1 b=1");
  expect(api.watch.url.searchParams.has("sendInitialEvents")).toBe(true);
  await listed(thing("b", "2", "30"));
  expect(values()).toBe("b=2");
});

for (const [what, refuse] of [
  ["refuses that", () => api.watch.fail(new KubeError("api-refused", "no", { status: 422 }))],
  ["accepts that and ends it with an error", () => api.watch.event("ERROR", { kind: "Status", code: 500 })],
] as const) {
  test(`Reflector lists, now and from then on, when the server ${what}`, async () => {
    api.onCall = () => page("10", [thing("a", "1", "9")]);
    await settleIo();
    refuse();
    await settleIo();
    expect(values()).toBe("a=1");
    expect(api.watch.from).toBe("10");
    api.watch.fail(gone());
    await clock.advance(1000);
    expect(api.calls.length).toBe(2);
    expect(reflector.health()).toMatchObject({ reconnects: 1, lastError: undefined });
  });
}

test("Reflector lists when the list in the watch has no end", async () => {
  api.onCall = () => page("10", [thing("a", "1", "9")]);
  await settleIo();
  api.watch.event("ADDED", thing("a", "1", "9"));
  await clock.advance(59_999);
  expect(values()).toBe("");
  await clock.advance(1);
  expect(values()).toBe("a=1");
});

test("Reflector does not list when the server only asks for patience, or has no such resource", async () => {
  await settleIo();
  for (const status of [429, 503, 404]) {
    api.watch.fail(new KubeError("api-refused", "later", { status }));
    await clock.advance(30_000);
  }
  expect(api.calls).toEqual([]);
  expect(api.watches.length).toBe(4);
});
