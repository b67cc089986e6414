/**
 * What a storm costs the API server: the statuses and events of a full node go over few connections, which stay open,
 * and the node hears of new pods meanwhile as fast as before.
 */
import { expect, test } from "bun:test";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { networkStatusAnnotation } from "../../src/base/annotations.ts";
import type { ContainerId, Namespace, PodName, PodUid } from "../../src/base/brand.ts";
import { silentLogger } from "../../src/base/log.ts";
import { systemClock } from "../../src/base/clock.ts";
import { KubeEventTeller } from "../../src/daemon/tell/kube-event-teller.ts";
import { KubeStatusTeller } from "../../src/daemon/tell/kube-status-teller.ts";
import { fixedAccess } from "../../src/kube/access/access.ts";
import { ApiClient } from "../../src/kube/client/api-client.ts";
import { ClusterView } from "../../src/kube/watch/cluster-view.ts";
import { needsServer } from "./needs-server.ts";
import { adminToken, PolicyServer } from "./policy-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("api-storm");
const node = "node-0";
const pods = 219;
const markers = 10;
/** Two watches, four statuses and two events at a time. */
const connectionsMax = 8;
/** A pod is made, seen by the watch and read from the copy. */
const heardMsMax = 1_000;

group("a storm's statuses and events", () => {
  let server: PolicyServer;

  beforeAll(async () => {
    server = await PolicyServer.start();
    const items = Array.from({ length: pods }, (_, at) => podObject(`p${at}`));
    server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  }, 120_000);

  afterAll(async () => server.stop());

  test("ride on few connections that stay open, and delay no watch event", async () => {
    await using door = await CountingDoor.before(server.url);
    const access = fixedAccess(door.url, { token: adminToken, tls: { rejectUnauthorized: false } });
    const api = new ApiClient({ access, clock: systemClock });
    const view = new ClusterView({ api, clock: systemClock, logger: silentLogger, nodeName: node });
    const options = { api, view, clock: systemClock, logger: silentLogger, nodeName: node };
    const statuses = new KubeStatusTeller({ ...options, onFate: () => undefined });
    const events = new KubeEventTeller({ ...options, onOutcome: () => undefined });
    try {
      await view.podsSynced();
      const attached = [...view.pods()].map(({ namespace, name, uid }) => ({ namespace, name, uid }));
      expect(attached).toHaveLength(pods);
      const quietMs = await heardAfterMs(server, view, "before");
      for (const pod of attached)
        for (const ifname of ["eth0", "net1"])
          events.aboutPod(pod, { type: "Normal", reason: "AddedInterface", message: `Add ${ifname}` });
      const told = attached.map((pod) => statuses.tell(statusOf(pod)));
      const stormMs = await heardAfterMs(server, view, "during");
      expect(await Promise.all(told)).toEqual(told.map(() => "delivered"));
      const before = attached[0];
      await until("an event is told", async () => (await eventsIn(server)) > 0 || undefined);
      console.log(
        `longest until a new pod is known: ${quietMs} ms before, ${stormMs} ms during; connections: ${door.accepted}`,
      );
      expect(Math.max(quietMs, stormMs)).toBeLessThan(heardMsMax);
      expect(door.accepted).toBeLessThanOrEqual(connectionsMax);
      expect(await annotationOf(server, String(before?.name))).toBe(statusText(String(before?.name)));
    } finally {
      await statuses.close();
      events.close();
      await view.close();
      api.close();
    }
  }, 120_000);
});

/** Makes pods one after another, and returns the longest time until the node's copy has one. */
async function heardAfterMs(server: PolicyServer, view: ClusterView, when: string): Promise<number> {
  let longestMs = 0;
  for (let at = 0; at < markers; at += 1) {
    const name = `${when}-${at}`;
    const startedMs = performance.now();
    const made = await server.ask({ method: "POST", path: "/api/v1/namespaces/default/pods", body: podObject(name) });
    expect(made.code).toBe(201);
    const find = (): Promise<unknown> => view.findPod("default" as Namespace, name as PodName);
    await until(`${name} is known`, find, { everyMs: 5 });
    longestMs = Math.max(longestMs, Math.round(performance.now() - startedMs));
    await pause(20);
  }
  return longestMs;
}

/** Passes connections on to the server, and counts them. */
class CountingDoor implements AsyncDisposable {
  accepted = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      this.accepted += 1;
      const far = connect(port, host);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#open.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
  }

  static async before(url: string): Promise<CountingDoor> {
    const { hostname, port } = new URL(url);
    const door = new CountingDoor(hostname, Number(port));
    await new Promise<void>((resolve) => door.#server.listen(0, "127.0.0.1", resolve));
    return door;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function statusOf(pod: { readonly namespace: Namespace; readonly name: PodName; readonly uid: PodUid }) {
  return { pod, containerId: `c-${pod.name}` as ContainerId, annotation: statusText(pod.name) };
}

function statusText(name: string): string {
  return JSON.stringify([{ name: "lan", interface: "eth0", ips: [name], default: true }]);
}

async function annotationOf(server: PolicyServer, name: string): Promise<unknown> {
  const { text } = await server.ask({ method: "GET", path: `/api/v1/namespaces/default/pods/${name}` });
  const { metadata } = JSON.parse(text) as { metadata: { annotations?: Record<string, string> } };
  return metadata.annotations?.[networkStatusAnnotation];
}

async function eventsIn(server: PolicyServer): Promise<number> {
  const { text } = await server.ask({ method: "GET", path: "/api/v1/namespaces/default/events" });
  return (JSON.parse(text) as { items: readonly unknown[] }).items.length;
}

function podObject(name: string): unknown {
  const spec = { nodeName: node, automountServiceAccountToken: false, containers: [{ name: "c", image: "c" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
}
