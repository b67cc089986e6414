/**
 * The daemons of a large cluster before one real API server: what they ask of it at rest, what one changed network costs,
 * and that they do not come back as a herd when it was away. 100 daemons with 5,000 pods and 50 networks; the figures of
 * docs/scale.md are of `LEVEE_DAEMONS=1000 LEVEE_PODS=50000 LEVEE_NETWORKS=500 LEVEE_REST_MINUTES=10`.
 */
import { expect, test } from "bun:test";
import { storeObjects } from "./console/stored-objects.ts";
import { needsServer } from "./needs-server.ts";
import { daemonToken, daemonUser, mergePatch, PolicyServer, untilServed } from "./policy-server.ts";
import { auditedReads, mostInASecond, readsPolicy, type AuditedRead } from "./scale/audited-reads.ts";
import {
  clusterObjects,
  networkConfig,
  networkName,
  networksPath,
  nodeName,
  podName,
} from "./scale/cluster-objects.ts";
import { DaemonFleet } from "./scale/daemon-fleet.ts";
import type { Seen } from "./scale/fleet-words.ts";
import { serverCounters, type ServerCounters } from "./scale/server-counters.ts";
import { socketBytes, type SocketBytes } from "./scale/socket-bytes.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("api-scale");
const longMs = 1_200_000;
const daemons = asked("LEVEE_DAEMONS", 100);
const pods = asked("LEVEE_PODS", 5_000);
const networks = asked("LEVEE_NETWORKS", 50);
const restSeconds = 60 * asked("LEVEE_REST_MINUTES", 1);
/** A kubelet's and a runtime's start spread a real rollout more than that. */
const startAtOnce = 8;
/** A label of the server's counters. */
const network = "(?:NetworkAttachmentDefinition|network-attachment-definitions)";

let server: PolicyServer;
let fleet: DaemonFleet;

beforeAll(async () => {
  server = await PolicyServer.start({ audit: readsPolicy(daemonUser) });
  server.must(["create", "namespace", "levee-system"]);
  server.must(["apply", "-f", "deploy/base/access.yaml", "-f", "deploy/crd/network-attachment-definition.yaml"]);
  await untilServed(server, "network-attachment-definitions");
  await server.stopApiServer("SIGKILL");
  await storeObjects(server, clusterObjects({ nodes: daemons, pods, networks }));
  await server.startApiServer();
}, longMs);

afterAll(async () => {
  fleet.stop();
  await server.stop();
}, longMs);

group(`${daemons} daemons, ${pods} pods, ${networks} networks`, () => {
  test(
    "first lists come from the server's memory",
    async () => {
      await fillCaches();
      const before = await look();
      const nodes = Array.from({ length: daemons }, (_, at) => nodeName(at));
      const place = { server: server.url, caFile: server.caFile, token: daemonToken };
      fleet = await DaemonFleet.start({ ...place, nodes, atOnce: startAtOnce });
      const state = await fleet.state();
      expect(state).toMatchObject({ nodes: daemons, pods, networks: daemons * networks, failing: 0, missedEvents: 0 });
      await settled();
      const cost = await since(before);
      report("start", cost);
      expect(cost.podsFromEtcd).toBe(0);
      expect(cost.reads.length).toBeLessThanOrEqual(6 * daemons);
    },
    longMs,
  );

  test(
    "a changed network is one event for each daemon, and no request",
    async () => {
      for (const turn of [1, 2, 3]) {
        const before = await look();
        const { answeredMs, objectBytes, saw } = await changeNetwork(`turn-${turn}`);
        await settled();
        const cost = await since(before);
        const [first, last] = [saw.firstMs, saw.lastMs].map((ms) => Math.round(ms - answeredMs));
        report(
          `a changed network of ${objectBytes} bytes, first daemon after ${first} ms, last after ${last} ms`,
          cost,
        );
        expect(saw.times).toBe(daemons);
        // The server counts bookmarks too, of which there is one a minute for each watch.
        expect(cost.watchEvents).toBeWithin(daemons, 1.2 * daemons + 10);
        expect(listsOf(cost.reads)).toEqual([]);
        // The object, and what bookmarks come meanwhile.
        expect(cost.bytes.received / daemons).toBeLessThan(objectBytes + 1_500);
      }
    },
    longMs,
  );

  test(
    "a changed pod is told to its daemon only",
    async () => {
      const before = await look();
      const changed = Math.min(50, daemons);
      for (let at = 0; at < changed; at += 1) {
        const body = {
          metadata: { annotations: { "k8s.v1.cni.cncf.io/networks": "networks/net-0001,networks/net-0002" } },
        };
        const path = `/api/v1/namespaces/apps/pods/${podName(at)}`;
        const { code, text } = await server.ask({ method: "PATCH", path, body, type: mergePatch });
        if (code !== 200) throw new Error(`${path}: ${code} ${text}`);
      }
      const saw = await until("the daemons have seen it", async () => (await fleet.state()).seen["a pod"]);
      await settled();
      const cost = await since(before);
      report(`${changed} changed pods`, cost);
      expect((await fleet.state()).seen["a pod"]?.times ?? saw.times).toBe(changed);
    },
    longMs,
  );

  test(
    "at rest each watch is renewed now and then",
    async () => {
      const before = await look();
      await pause(1_000 * restSeconds);
      const cost = await since(before);
      report(`${restSeconds} s at rest`, cost);
      // Two watches of five minutes at least.
      expect(cost.reads.length).toBeLessThanOrEqual(2 * daemons * Math.ceil(restSeconds / 300));
      expect(listsOf(cost.reads)).toEqual([]);
      expect(cost.podsFromEtcd).toBe(0);
      const minutes = restSeconds / 60;
      expect((cost.bytes.received + cost.bytes.sent) / daemons / minutes).toBeLessThan(4_096);
    },
    longMs,
  );
});

group(`${daemons} daemons after an outage`, () => {
  for (const awayMs of [0, 60_000])
    test(
      `come back without a herd when the API server was away for ${awayMs / 1_000} s`,
      async () => comeBack(awayMs),
      longMs,
    );
});

async function comeBack(awayMs: number): Promise<void> {
  const beforeMs = Date.now();
  const state = await fleet.state();
  await server.stopApiServer("SIGKILL");
  await pause(awayMs);
  await server.startApiServer();
  const readyMs = Date.now();
  const { saw } = await changeNetwork(`after-${awayMs}`);
  await until("all follow again", async () => (await fleet.state()).failing === 0 || undefined, { timeoutMs: 300_000 });
  const reads = await auditedReads(server.auditFile, beforeMs);
  const lists = listsOf(reads);
  const after = await fleet.state();
  const codes = Object.groupBy(reads, ({ code }) => String(code));
  const say = {
    "serving after s": (readyMs - beforeMs) / 1_000,
    "all current s after that": (saw.lastMs - readyMs) / 1_000,
    "reads": reads.length,
    "reads in one second": mostInASecond(reads),
    "lists": lists.length,
    "lists in one second": mostInASecond(lists),
    "lists of networks in one second": mostInASecond(lists.filter(({ resource }) => resource !== "pods")),
    "codes": Object.fromEntries(Object.entries(codes).map(([code, of]) => [code, of?.length])),
    "reconnects": after.reconnects - state.reconnects,
    ...socketBytes(fleet.pids, port()),
    "per second": perSecond(lists),
  };
  console.log(`away for ${awayMs} ms: ${JSON.stringify(say)}`);
  expect(after).toMatchObject({ pods, networks: daemons * networks, missedEvents: 0 });
  // Two lists each, spread over half a minute; at random, so some seconds have more.
  expect(lists.length).toBeLessThanOrEqual(2 * 2 * daemons);
  expect(mostInASecond(lists)).toBeLessThanOrEqual(2 * ((2 * daemons) / 30) + 10);
}

/** Lists per second since the first. */
function perSecond(reads: readonly AuditedRead[]): readonly number[] {
  const counts: number[] = [];
  const firstMs = Math.min(...reads.map(({ atMs }) => atMs));
  for (const { atMs } of reads) {
    const second = Math.floor((atMs - firstMs) / 1_000);
    counts[second] = (counts[second] ?? 0) + 1;
  }
  return Array.from(counts, (count) => count ?? 0);
}

interface Look extends ServerCounters {
  readonly atMs: number;
  readonly bytes: SocketBytes;
}

interface Cost extends Look {
  readonly reads: readonly AuditedRead[];
}

function port(): string {
  return new URL(server.url).port;
}

async function look(): Promise<Look> {
  const pids = fleet === undefined ? [] : fleet.pids;
  return { atMs: Date.now(), bytes: socketBytes(pids, port()), ...(await serverCounters(server, network)) };
}

async function since(before: Look): Promise<Cost> {
  const now = await look();
  return {
    atMs: now.atMs - before.atMs,
    reads: await auditedReads(server.auditFile, before.atMs),
    bytes: {
      connections: now.bytes.connections,
      sent: now.bytes.sent - before.bytes.sent,
      received: now.bytes.received - before.bytes.received,
    },
    watchEvents: now.watchEvents - before.watchEvents,
    watchEventBytes: now.watchEventBytes - before.watchEventBytes,
    podsFromEtcd: now.podsFromEtcd - before.podsFromEtcd,
    cpuMs: now.cpuMs - before.cpuMs,
    rssMib: now.rssMib,
  };
}

function report(what: string, { reads, ...cost }: Cost): void {
  const kinds = Object.entries(Object.groupBy(reads, ({ kind, code }) => `${kind} ${code ?? "open"}`));
  const requests = Object.fromEntries(kinds.map(([kind, of]) => [kind, of?.length]));
  console.log(`${what}: ${JSON.stringify({ requests, ...cost })}`);
}

function listsOf(reads: readonly AuditedRead[]): readonly AuditedRead[] {
  return reads.filter(({ kind }) => kind === "list" || kind === "streamed list");
}

/** Changes the last network, and waits until every daemon has it. */
async function changeNetwork(mark: string): Promise<{ answeredMs: number; objectBytes: number; saw: Seen }> {
  const at = networks - 1;
  const body = { spec: { config: networkConfig(at, mark) } };
  const path = `${networksPath}/${networkName(at)}`;
  const { code, text } = await server.ask({ method: "PATCH", path, body, type: mergePatch });
  const answeredMs = performance.timeOrigin + performance.now();
  if (code !== 200) throw new Error(`${path}: ${code} ${text}`);
  const saw = await until(
    `all daemons know ${mark}`,
    async () => {
      const seen = (await fleet.state()).seen[mark];
      return seen?.times === daemons ? seen : undefined;
    },
    { timeoutMs: 300_000 },
  );
  return { answeredMs, objectBytes: text.length, saw };
}

/** Until its caches are full, a server that has just started turns lists away. */
async function fillCaches(): Promise<void> {
  for (const path of ["/api/v1/pods", networksPath])
    await until(`${path} is served from memory`, async () => {
      const { code } = await server.ask({ method: "GET", path: `${path}?resourceVersion=0&labelSelector=none` });
      return code === 200 || undefined;
    });
}

/** What was sent has been counted. */
async function settled(): Promise<void> {
  await pause(2_000);
}

function asked(name: string, usual: number): number {
  return Number(process.env[name] ?? usual);
}
