import { beforeEach, expect, test } from "bun:test";
import { freePort } from "../../test/lab/free-port.ts";
import { silentLogger } from "../base/log.ts";
import { KubeError, type KubeRequest } from "../kube/client/api.ts";
import { FakeApi, page } from "../kube/client/fake-api.fixture.ts";
import { ManualClock } from "../kube/manual-clock.fixture.ts";
import { defaultGuardSettings } from "./facts/guard-settings.ts";
import { LeaseServer } from "./lead/lease-server.fixture.ts";
import { runGuard } from "./run-guard.ts";

/** An API server with pods, a Lease and created Decisions. */
class Server extends FakeApi {
  readonly leases = new LeaseServer();
  readonly posted: KubeRequest[] = [];
  refusal: KubeError | undefined;

  override async call(request: KubeRequest): Promise<string> {
    if (request.path.includes("/leases")) return this.leases.call(request);
    if (request.path.includes("/configmaps/")) throw new KubeError("api-refused", "none", { status: 404 });
    if (request.method === "GET") return super.call(request);
    if (this.refusal !== undefined) throw this.refusal;
    this.posted.push(request);
    return "{}";
  }
}

let clock: ManualClock;
let server: Server;
let stop: AbortController;

beforeEach(() => {
  clock = new ManualClock();
  // A random value of zero would retry without a pause.
  clock.chance = 0.5;
  server = new Server();
  server.onCall = ({ pathname }) => page("10", pathname === "/api/v1/pods" ? pods(25) : []);
  stop = new AbortController();
});

function pods(count: number, agoMs = 600_000): readonly { readonly metadata: object }[] {
  const creationTimestamp = new Date(clock.wallMs() - agoMs).toISOString();
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `rd-${index}`,
      namespace: "fc-desktop",
      uid: `u-${index}`,
      generateName: "rd-",
      creationTimestamp,
    },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
    status: { phase: "Pending" },
  }));
}

/** Resolves with the guard's end. */
function guard(identity = "a"): Promise<string> {
  const options = { api: server, clock, logger: silentLogger, settings: defaultGuardSettings, identity };
  return runGuard(options, stop.signal).then(
    () => "ended",
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : "?"),
  );
}

test("runGuard leads, proposes within seconds, and releases the lease when it ends", async () => {
  const ended = guard();
  await clock.advance(12_000);
  expect(server.posted.map(({ method, path }) => `${method} ${path}`).slice(0, 2)).toEqual([
    "POST /apis/levee.dev/v1alpha1/namespaces/levee-system/decisions",
    "POST /apis/levee.dev/v1alpha1/namespaces/levee-system/decisions",
  ]);
  expect(server.posted[0]?.body).toContain("The guard removes at most 120 pods a minute");
  expect(server.leases.holder).toBe("a");
  stop.abort(new Error("told to"));
  await clock.advance(1);
  expect(await ended).toBe("ended");
  expect(server.leases.holder).toBe("");
});

test("runGuard proposes about an avalanche within a minute of its twentieth stuck member, and not before", async () => {
  const known = pods(19);
  const last = { ...pods(1, 0)[0], metadata: { ...pods(1, 0)[0]?.metadata, name: "last", uid: "last" } };
  server.onCall = ({ pathname }) => page("10", pathname === "/api/v1/pods" ? [...known, last] : []);
  const ended = guard();
  await clock.advance(299_000);
  expect(server.posted).toEqual([]);
  await clock.advance(61_000);
  expect(server.posted[0]?.body).toContain("20 ownerless pods of one template in fc-desktop do not start");
  stop.abort(new Error("told to"));
  await clock.advance(1);
  expect(await ended).toBe("ended");
});

test("runGuard shows on its port whether it leads, before and after", async () => {
  server.leases.lease = { metadata: { resourceVersion: "1" }, spec: { holderIdentity: "other", leaseTransitions: 3 } };
  server.leases.writes = 1;
  const metricsPort = await freePort();
  const options = { api: server, clock, logger: silentLogger, settings: defaultGuardSettings, identity: "b" };
  const ended = runGuard({ ...options, metricsPort }, stop.signal);
  const leads = async (): Promise<string> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(text).toContain('levee_guard_view_objects{resource="pods"} 25\n');
    return /^levee_guard_leader (\d)$/mu.exec(text)?.[1] ?? "";
  };
  await clock.advance(1_000);
  expect(await leads()).toBe("0");
  await clock.advance(40_000);
  expect(await leads()).toBe("1");
  stop.abort(new Error("told to"));
  await clock.advance(1);
  await ended;
});

test("runGuard writes nothing while another guard leads, and starts when that one is gone", async () => {
  server.leases.lease = { metadata: { resourceVersion: "1" }, spec: { holderIdentity: "other", leaseTransitions: 3 } };
  server.leases.writes = 1;
  const ended = guard("b");
  await clock.advance(14_000);
  expect(server.posted).toEqual([]);
  await clock.advance(6_000);
  expect(server.leases.holder).toBe("b");
  expect(server.posted.length).toBeGreaterThan(0);
  stop.abort(new Error("told to"));
  await clock.advance(1);
  expect(await ended).toBe("ended");
});

test("runGuard ends with the reason when the lease is lost", async () => {
  const ended = guard();
  await clock.advance(3_000);
  server.leases.trouble = new Error("away");
  await clock.advance(15_000);
  expect(await ended).toContain("it could not be renewed for 10000 ms");
});

test("runGuard continues after a passing error", async () => {
  server.refusal = new KubeError("api-refused", "busy", { status: 503 });
  const ended = guard();
  await clock.advance(12_000);
  server.refusal = undefined;
  await clock.advance(12_000);
  expect(server.posted.length).toBeGreaterThan(0);
  stop.abort(new Error("told to"));
  await clock.advance(1);
  expect(await ended).toBe("ended");
});

test("runGuard decides nothing before everything was listed once", async () => {
  server.onCall = ({ pathname }) => {
    if (pathname === "/api/v1/nodes") throw new KubeError("api-refused", "no", { status: 403 });
    return page("10", pathname === "/api/v1/pods" ? pods(25) : []);
  };
  const ended = guard();
  await clock.advance(30_000);
  expect(server.posted).toEqual([]);
  stop.abort(new Error("told to"));
  await clock.advance(1);
  expect(await ended).toBe("ended");
});
