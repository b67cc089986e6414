import { afterEach, beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../../kube/client/api.ts";
import { FakeApi, page } from "../../kube/client/fake-api.fixture.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { AddressKeeper } from "./address-keeper.ts";
import { definition } from "./definition.fixture.ts";
import { projectWatchedNetwork, type WatchedNetwork } from "./watched-network.ts";

let clock: ManualClock;
let api: FakeApi;
let networks: readonly WatchedNetwork[] | undefined;
let isLeader: boolean;
let keeper: AddressKeeper;
let warnings: string[];

const lan = whereabouts("lan");
const pool = { metadata: { name: "10.1.0.0-28" }, spec: { range: "10.1.0.0/28", allocations: { 1: {}, 2: {} } } };
const room = { network: "prod/lan", total: 14, left: 12 };

function whereabouts(name: string): WatchedNetwork {
  const ipam = { type: "whereabouts", range: "10.1.0.0/28" };
  return projectWatchedNetwork(definition(name, { type: "bridge", ipam }))!;
}

beforeEach(() => {
  clock = new ManualClock();
  api = new FakeApi();
  api.onCall = () => page("10", [pool, "garbage"]);
  networks = [lan];
  isLeader = true;
  warnings = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const nodes = (): readonly [] => [];
  keeper = new AddressKeeper({ api, clock, logger, networks: () => networks, nodes, isLeader: () => isLeader });
});
afterEach(() => keeper.close());

async function start(): Promise<void> {
  keeper.start();
  await clock.advance(1);
}

test("AddressKeeper lists the IPPools once a minute, and asks nothing while no definition uses whereabouts", async () => {
  networks = [];
  await start();
  expect([keeper.rooms, api.calls.length]).toEqual([[], 0]);
  networks = [lan];
  await clock.advance(5_000);
  expect(keeper.rooms).toEqual([room]);
  await clock.advance(180_000);
  expect(api.calls).toHaveLength(4);
  expect(new Set(api.calls.map(({ pathname }) => pathname))).toEqual(
    new Set(["/apis/whereabouts.cni.cncf.io/v1alpha1/ippools"]),
  );
});

test("AddressKeeper counts only while its guard leads", async () => {
  isLeader = false;
  await start();
  await clock.advance(120_000);
  expect([keeper.rooms, api.calls.length]).toEqual([undefined, 0]);
  isLeader = true;
  await clock.advance(5_000);
  expect(keeper.rooms).toEqual([room]);
  isLeader = false;
  await clock.advance(5_000);
  expect(keeper.rooms).toBeUndefined();
});

test("AddressKeeper keeps its count for five minutes when the IPPools cannot be read, and warns once", async () => {
  await start();
  api.onCall = () => {
    throw new KubeError("api-refused", "forbidden", { status: 403 });
  };
  await clock.advance(240_000);
  expect(keeper.rooms).toEqual([room]);
  await clock.advance(120_000);
  expect(keeper.rooms).toBeUndefined();
  expect(warnings).toEqual(["Cannot count the addresses of whereabouts"]);
  api.onCall = () => page("11", [pool]);
  await clock.advance(60_000);
  expect(keeper.rooms).toEqual([room]);
});

test("AddressKeeper forgets its count five minutes after the definitions could last be read", async () => {
  await start();
  networks = undefined;
  await clock.advance(290_000);
  expect(keeper.rooms).toEqual([room]);
  await clock.advance(20_000);
  expect(keeper.rooms).toBeUndefined();
});

test("AddressKeeper finds no address taken where whereabouts is not installed", async () => {
  api.onCall = () => {
    throw new KubeError("api-refused", "no such resource", { status: 404 });
  };
  await start();
  expect([keeper.rooms, warnings]).toEqual([[], []]);
});
