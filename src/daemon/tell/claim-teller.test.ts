import { expect, test } from "bun:test";
import type { JsonText, Namespace, PluginType, PodName, PodUid } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aChain, aRecord } from "../../state/journal/record.fixture.ts";
import type { ClaimAnswer } from "../../view/claim-view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { LiveView } from "../../view/view.ts";
import { ClaimTeller } from "./claim-teller.ts";

const pod = { namespace: "default" as Namespace, name: "web" as PodName, uid: "u1" as PodUid };

function chain(ifname: string, deviceId?: string): Chain {
  const stdin = JSON.stringify({
    type: "sriov",
    ...(deviceId === undefined ? {} : { deviceID: deviceId }),
  }) as JsonText;
  return aChain({ ifname: ifname as Chain["ifname"], links: [{ type: "sriov" as PluginType, stdin }] });
}

function result(ifname: string, addresses: readonly string[], mac = "02:00:00:00:00:01"): JsonText {
  const interfaces = [{ name: "vf0" }, { name: ifname, mac, sandbox: "/run/netns/x" }];
  const ips = addresses.map((address) => ({ address, interface: 1 }));
  return JSON.stringify({ cniVersion: "1.0.0", interfaces, ips }) as JsonText;
}

const allocated = (device: string, more: object = {}) => ({
  ...{ driver: "vf.example", pool: "node1", device, request: "r" },
  ...more,
});

/** A teller in a cluster with these claims, whose devices have IDs such as `id-vf-1`. */
class Desk {
  readonly clock = new ManualClock();
  readonly requests: KubeRequest[] = [];
  readonly logged: string[] = [];
  answer: () => Promise<string> = () => Promise.resolve("{}");
  record: AttachmentRecord | undefined;
  known: Partial<PodFacts> = { ...pod, claims: { refs: [{ name: "net", claim: "c1", isInStatus: true }] } };
  /** What the server has of the pod. */
  live: Partial<PodFacts> | undefined;
  claims: Record<string, ClaimAnswer> = { c1: [allocated("vf-1")] };
  reads = 0;
  readonly teller: ClaimTeller;

  constructor() {
    this.clock.chance = 1;
    const call = (request: KubeRequest): Promise<string> => {
      this.requests.push(request);
      return this.answer();
    };
    const claims: LiveView["claims"] = {
      claim: (_namespace, name) => {
        this.reads += 1;
        return Promise.resolve(this.claims[name] ?? "absent");
      },
      published: ({ device }) => Promise.resolve({ deviceId: `id-${device}`, resourceName: "intel.com/vf" }),
    };
    const error = (message: string, fields: { reason?: string } = {}): void => {
      this.logged.push(`${message}: ${fields.reason ?? ""}`);
    };
    this.teller = new ClaimTeller({
      api: { call } as KubeApi,
      clock: this.clock,
      logger: { ...silentLogger, error },
      view: {
        findPod: () => Promise.resolve(this.known as PodFacts),
        live: { claims, readPod: () => Promise.resolve(this.live as PodFacts | undefined) } as unknown as LiveView,
      },
    });
  }

  async tell(chains: readonly Chain[], results: readonly JsonText[], gone: readonly Chain[] = []): Promise<void> {
    this.record = aRecord(1, { chains, results });
    this.teller.tell(pod, () => this.record, gone);
    await this.pass(1_000);
  }

  /** The part that is loaded late takes real time. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    while (this.teller.health().sending > 0) await settleIo();
  }

  get told(): readonly unknown[] {
    return this.requests.map(({ body }) => (JSON.parse(body ?? "") as { status: { devices: unknown } }).status.devices);
  }
}

const entry = { driver: "vf.example", pool: "node1", device: "vf-1" };

test("ClaimTeller applies interface, addresses and MAC of each device, as the pod's own part of the claim", async () => {
  const desk = new Desk();
  desk.claims = { c1: [allocated("gpu"), allocated("vf-1"), allocated("vf-2", { shareId: "s-1" })] };
  await desk.tell(
    [chain("eth0"), chain("net1", "id-vf-1"), chain("net2", "id-vf-2")],
    [
      result("eth0", ["10.0.0.9/24"]),
      result("net1", ["10.1.0.5/24", "10.1.0.5/24", "fd00::5/64"]),
      result("other", []),
    ],
  );
  expect(desk.requests).toMatchObject([
    {
      method: "PATCH",
      path: "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c1/status?fieldManager=levee-u1",
      contentType: "application/apply-patch+yaml",
    },
  ]);
  const data = { interfaceName: "net1", ips: ["10.1.0.5/24", "fd00::5/64"], hardwareAddress: "02:00:00:00:00:01" };
  expect(desk.told).toEqual([
    [
      { ...entry, networkData: data },
      { ...entry, device: "vf-2", shareID: "s-1", networkData: {} },
    ],
  ]);
});

test.each([
  ["a pod without devices", [chain("eth0"), chain("net1")], 0],
  ["a device of a device plugin", [chain("net1", "id-other")], 1],
] as const)("ClaimTeller writes nothing for %s", async (_what, chains, reads) => {
  const desk = new Desk();
  await desk.tell(
    chains,
    chains.map(({ ifname }) => result(ifname, [])),
  );
  expect([desk.requests.length, desk.reads]).toEqual([0, reads]);
});

test("ClaimTeller writes nothing for a pod that is gone, has no claims, or is another of the same name", async () => {
  for (const known of [undefined, pod, { ...new Desk().known, uid: "u2" as PodUid }]) {
    const desk = new Desk();
    desk.known = known as Partial<PodFacts>;
    await desk.tell([chain("net1", "id-vf-1")], [result("net1", [])]);
    expect(desk.requests).toEqual([]);
  }
});

test("ClaimTeller asks the server where the local copy has the pod without its claims, or not at all", async () => {
  for (const known of [undefined, pod]) {
    const desk = new Desk();
    desk.live = desk.known;
    desk.known = known as Partial<PodFacts>;
    await desk.tell([chain("net1", "id-vf-1")], [result("net1", [])]);
    expect(desk.told).toMatchObject([[{ device: "vf-1" }]]);
  }
});

test("ClaimTeller takes the data of an unplugged device away, also when two changes go in one letter", async () => {
  const desk = new Desk();
  desk.claims = { c1: [allocated("vf-1"), allocated("vf-2")], c2: [allocated("vf-3")] };
  desk.known = {
    ...desk.known,
    claims: { refs: ["c1", "c2"].map((claim) => ({ name: claim, claim, isInStatus: true })) },
  };
  desk.answer = () => Promise.reject(new KubeError("api-unreachable", "away"));
  await desk.tell([chain("net2", "id-vf-2")], [result("net2", [])], [chain("net1", "id-vf-1")]);
  await desk.tell([chain("net2", "id-vf-2")], [result("net2", [])], [chain("net3", "id-vf-3")]);
  desk.requests.length = 0;
  desk.answer = () => Promise.resolve("{}");
  await desk.pass(30_000);
  expect(desk.requests.map(({ path }) => /resourceclaims\/(\w+)/u.exec(path)?.[1])).toEqual(["c1", "c2"]);
  expect(desk.told).toMatchObject([[{ device: "vf-2" }], []]);
  desk.requests.length = 0;
  await desk.tell([chain("net2", "id-vf-2")], [result("net2", [])]);
  expect(desk.requests).toHaveLength(1);
});

test.each([
  ["lacks the right", new KubeError("api-refused", "resourceclaims/status is forbidden", { status: 403 }), true],
  [
    "finds that the driver has written it",
    new KubeError("api-refused", 'Apply failed with 1 conflict: conflict with "dranet"', { status: 409 }),
    false,
  ],
  [
    "refuses a value",
    new KubeError("api-refused", "status.devices[0].networkData.ips[0]: Invalid", { status: 422 }),
    false,
  ],
])("ClaimTeller logs once when the server %s", async (_what, refusal, isTriedAgain) => {
  const desk = new Desk();
  desk.answer = () => Promise.reject(refusal);
  await desk.tell([chain("net1", "id-vf-1")], [result("net1", [])]);
  await desk.tell([chain("net1", "id-vf-1")], [result("net1", [])]);
  const tries = desk.requests.length;
  await desk.pass(700_000);
  expect(desk.logged).toEqual([`The API server refuses a delivery: ${refusal.message}`]);
  expect(desk.requests.length > tries).toBe(isTriedAgain);
});
