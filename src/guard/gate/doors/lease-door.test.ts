import { beforeEach, expect, test } from "bun:test";
import { KubeError, type KubeApi } from "../../../kube/client/api.ts";
import { ManualClock } from "../../../kube/manual-clock.fixture.ts";
import { LeaseDoor } from "./lease-door.ts";

interface Lease {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly holderIdentity: string; readonly renewTime: string; readonly leaseDurationSeconds: number };
}

let leases: Map<string, Lease>;
let writes: string[];
let clock: ManualClock;

const api: KubeApi = {
  async call({ method, path, body = "{}" }) {
    await Promise.resolve();
    const value = JSON.parse(body) as Lease & { metadata: { name: string } }; // our own
    const name = method === "POST" ? value.metadata.name : (path.split("/").at(-1) ?? "");
    if (method === "GET") {
      const found = leases.get(name);
      if (found === undefined) throw new KubeError("api-refused", "no", { status: 404 });
      return JSON.stringify(found);
    }
    writes.push(`${method} ${name}`);
    if (method === "DELETE") leases.delete(name);
    else leases.set(name, { ...value, metadata: { resourceVersion: "2" } });
    return "{}";
  },
  lines: () => {
    throw new Error("no test watches");
  },
};

beforeEach(() => {
  leases = new Map();
  writes = [];
  clock = new ManualClock();
});

function lease(holderIdentity: string, agoMs: number): Lease {
  const renewTime = new Date(clock.wallMs() - agoMs).toISOString();
  return { metadata: { resourceVersion: "1" }, spec: { holderIdentity, renewTime, leaseDurationSeconds: 60 } };
}

const yes = (): boolean => true;

test("LeaseDoor holds the lease of a node that may not be rebooted, renews it, and gives it back", async () => {
  const door = new LeaseDoor({ api, clock });
  await door.hold(new Set(["n1"]), yes);
  expect(leases.get("node-n1")?.spec).toMatchObject({ holderIdentity: "levee-guard", leaseDurationSeconds: 3_600 });
  await door.hold(new Set(["n1"]), yes);
  await clock.advance(1_200_000);
  await door.hold(new Set(["n1"]), yes);
  await door.hold(new Set(), yes);
  expect(writes).toEqual(["POST node-n1", "PUT node-n1", "DELETE node-n1"]);
});

test("LeaseDoor takes no lease that somebody else holds, and deletes none", async () => {
  leases.set("node-n1", lease("node-maintenance", 10_000));
  const door = new LeaseDoor({ api, clock });
  await door.hold(new Set(["n1"]), yes);
  await door.hold(new Set(), yes);
  expect(writes).toEqual([]);
  leases.set("node-n1", lease("node-maintenance", 61_000));
  await door.hold(new Set(["n1"]), yes);
  expect(writes).toEqual(["PUT node-n1"]);
  leases.set("node-n1", lease("node-maintenance", 0));
  await door.hold(new Set(), yes);
  expect(writes).toEqual(["PUT node-n1"]);
});

test("LeaseDoor writes nothing once its guard no longer leads", async () => {
  await new LeaseDoor({ api, clock }).hold(new Set(["n1"]), () => false);
  expect(writes).toEqual([]);
});
