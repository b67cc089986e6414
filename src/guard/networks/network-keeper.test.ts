import { afterEach, beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError, type KubeRequest } from "../../kube/client/api.ts";
import { FakeApi, gone, page } from "../../kube/client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { readyPod } from "../world.fixture.ts";
import { definition } from "./definition.fixture.ts";
import { NetworkKeeper } from "./network-keeper.ts";

interface WrittenEvent {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly involvedObject: object;
  readonly reason: string;
  readonly message: string;
}

/** An API server with definitions, which keeps events by name. */
class Server extends FakeApi {
  readonly events: WrittenEvent[] = [];
  failure: KubeError | undefined;
  posts = 0;

  override async call(request: KubeRequest): Promise<string> {
    if (request.method !== "POST") return super.call(request);
    this.posts += 1;
    if (this.failure !== undefined) throw this.failure;
    const event = JSON.parse(request.body as string) as WrittenEvent;
    if (this.events.some(({ metadata }) => metadata.name === event.metadata.name))
      throw new KubeError("api-refused", "exists", { status: 409 });
    this.events.push(event);
    return "{}";
  }
}

let clock: ManualClock;
let server: Server;
let pods: ClusterPod[];
const keepers: NetworkKeeper[] = [];

beforeEach(() => {
  clock = new ManualClock();
  // A random value of zero would retry without a pause.
  clock.chance = 0.5;
  server = new Server();
  pods = [readyPod("a", { networks: "prod/lan" }), readyPod("b", { networks: "prod/lan" })];
});
afterEach(() => Promise.all(keepers.splice(0).map((keeper) => keeper.close())));

async function start(definitions: readonly object[], isLeader: () => boolean = () => true): Promise<NetworkKeeper> {
  server.onCall = () => page("10", definitions);
  const facts = { isCurrent: () => true, pods: () => pods };
  const keeper = new NetworkKeeper({ api: server, clock, logger: silentLogger, identity: "g", facts, isLeader });
  keepers.push(keeper);
  keeper.start();
  await settleIo();
  await clock.advance(2_000);
  return keeper;
}

const bridge = { type: "bridge", bridge: "br57" };
const lan = definition("lan", bridge);
const changed = definition("lan", { ...bridge, mtu: 9000 });

test("NetworkKeeper writes one event on a definition that changes in use, and the metric stands as long as the pods do", async () => {
  const keeper = await start([lan]);
  expect(keeper.warnings).toEqual([]);
  server.watch.event("MODIFIED", changed);
  await clock.advance(60_000);
  expect(server.events).toHaveLength(1);
  expect(server.events[0]).toMatchObject({
    metadata: { namespace: "prod", name: expect.stringMatching(/^lan\.[0-9a-f]{16}$/u) },
    involvedObject: { kind: "NetworkAttachmentDefinition", namespace: "prod", name: "lan", uid: "uid-lan" },
    reason: "NetworkChangedInUse",
    message:
      "LVN0703: the configuration has changed: fc-desktop/a, fc-desktop/b use it and keep the old configuration until restarted",
  });
  expect(keeper.warnings).toMatchObject([{ kind: "changed", pods: 2 }]);
  pods = [];
  await clock.advance(12_000);
  expect(keeper.warnings).toEqual([]);
  expect(server.posts).toBe(1);
});

test("NetworkKeeper writes nothing while another guard leads, and the next leader tells what it saw, once", async () => {
  let isLeader = false;
  await start([lan]);
  await start([lan], () => isLeader);
  for (const watch of server.watches) watch.event("DELETED", lan);
  await clock.advance(30_000);
  expect(server.events.map(({ reason }) => reason)).toEqual(["NetworkDeletedInUse"]);
  expect(server.posts).toBe(1);
  isLeader = true;
  await clock.advance(30_000);
  // The name of the event says that it is told.
  expect([server.events.length, server.posts]).toEqual([1, 2]);
});

test("NetworkKeeper tells no more than its budget at once, and the others later", async () => {
  const same = { type: "macvlan", master: "eth1", ipam: { type: "host-local", subnet: "10.1.0.0/24" } };
  const keeper = await start(Array.from({ length: 500 }, (_, at) => definition(`n${at}`, same)));
  expect(keeper.warnings).toHaveLength(499);
  expect(server.events).toHaveLength(10);
  await clock.advance(600_000);
  expect(server.events.length).toBeGreaterThan(15);
  expect(server.events.length).toBeLessThan(25);
  expect(new Set(server.events.map(({ reason }) => reason))).toEqual(new Set(["AddressesOverlap"]));
});

test("NetworkKeeper tells it later when the API server does not answer, and gives up where the namespace is gone", async () => {
  await start([lan]);
  server.failure = new KubeError("api-unreachable", "away");
  server.watch.event("MODIFIED", changed);
  await clock.advance(30_000);
  expect(server.posts).toBeGreaterThan(1);
  server.failure = undefined;
  await clock.advance(60_000);
  expect(server.events).toHaveLength(1);
  server.failure = new KubeError("api-refused", "no such namespace", { status: 404 });
  server.posts = 0;
  server.watch.event("DELETED", changed);
  await clock.advance(60_000);
  expect(server.posts).toBe(1);
});

test("NetworkKeeper says nothing before it has read the definitions", async () => {
  server.onCall = () => {
    throw new KubeError("api-refused", "forbidden", { status: 403 });
  };
  const facts = { isCurrent: () => true, pods: () => pods };
  const options = { api: server, clock, logger: silentLogger, identity: "g", facts, isLeader: () => true };
  const keeper = new NetworkKeeper(options);
  keepers.push(keeper);
  keeper.start();
  await clock.advance(30_000);
  expect(keeper.warnings).toBeUndefined();
});

test("NetworkKeeper lists again at once after its place is gone: a guard is not one of many", async () => {
  await start([]);
  let lists = 0;
  server.onCall = () => {
    lists += 1;
    return page("11", []);
  };
  server.watch.fail(gone());
  await settleIo();
  await clock.advance(600);
  expect(lists).toBe(1);
});
