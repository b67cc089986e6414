/** Devices by claims (DRA) on a real API server, with the rights of the manifests; the kubelet's socket is a stand-in. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { protoMessage } from "../../src/kube/kubelet/kubelet.fixture.ts";
import type { CniCall, CniOutcome } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import type { KubeObject } from "./api.ts";
import {
  allocate,
  claim,
  deviceNetwork,
  devicesGiven,
  podWith,
  published,
  StandInKubelet,
  vfs,
} from "./compat/claims-scene.ts";
import { CompatCluster, type Pod } from "./compat/compat-cluster.ts";
import { applyAll, manifest } from "./manifests.ts";
import { needsServer } from "./needs-server.ts";
import { mergePatch, personTokens } from "./policy-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterEach, afterAll } = needsServer("claims");
const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/daemon-of-test";

let cluster: CompatCluster;
let kubelet: StandInKubelet;
let conf: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  kubelet = await StandInKubelet.start();
  cluster = await CompatCluster.start({ kubeletDir: kubelet.folder, claimNetworkData: true });
  await cluster.lab.killDaemon("SIGTERM");
  // The daemon is a user with the role of the manifests, and with nothing else.
  await writeFile(join(cluster.accountFolder, "token"), personTokens.carol);
  await applyAll(cluster.api, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "levee-system" } }]);
  for (const file of ["base/access.yaml", "components/claim-network-data/access.yaml"])
    await applyAll(cluster.api, manifest(file));
  await bind();
  await cluster.startDaemon();
  for (const [name, annotations] of networks) await deviceNetwork(cluster, name, annotations);
  await applyAll(cluster.api, [published("vfs", vfs), published("gpus", { gpu: [] }, { driver: "gpu.example" })]);
  conf = { delegates: [{ cniVersion: "1.0.0", name: "primary", ...cluster.lab.conf("first") }] };
}, 120_000);

afterEach(async () => {
  Object.assign(kubelet, { allotted: {}, claims: [] });
  await cluster.lab.forgetCalls();
});

afterAll(async () => {
  await cluster.stop();
  await kubelet[Symbol.asyncDispose]();
}, 60_000);

const vf = { "k8s.v1.cni.cncf.io/resourceName": "intel.com/vf" };
const networks: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["vf", vf],
  ["red", { ...vf, "levee.dev/device-request": "net/red" }],
  ["blue", { ...vf, "levee.dev/device-request": "net/blue" }],
  ["by-claim", { "k8s.v1.cni.cncf.io/resourceName": "own-claim" }],
];
async function bind(): Promise<void> {
  const head = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "carol" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole" };
  await applyAll(cluster.api, [
    { ...head, metadata: { name: "daemon-of-test" }, roleRef: { ...roleRef, name: "levee" }, subjects },
    {
      ...head,
      metadata: { name: "daemon-of-test-claims" },
      roleRef: { ...roleRef, name: "levee-claim-network-data" },
      subjects,
    },
  ]);
}

async function add(pod: Pod): Promise<{ call: CniCall; outcome: CniOutcome }> {
  const call = cluster.call(pod, conf);
  return { call, outcome: await cluster.lab.cni("ADD", call) };
}

async function story(name: string): Promise<string> {
  return (await levee(cluster.lab, "why", name)).out;
}

group("devices by claims", () => {
  test("device plugin's and claimed devices are one list, and the story names those that were skipped", async () => {
    const given = [
      ["r", "vf-3"],
      ["r", "vf-1"],
      ["x", "vf-x"],
      ["g", "gpu", "gpu.example"],
      ["n", "none"],
    ] as const;
    await claim(cluster, "merged-net-1", given);
    kubelet.allotted = { merged: [["intel.com/vf", ["0000:03:02.2"]]] };
    const { outcome } = await add(await podWith(cluster, "merged", "merged-net-1", "vf,vf,vf"));
    expect(outcome.exitCode).toBe(0);
    expect(await devicesGiven(cluster)).toEqual(["0000:03:02.1", "0000:03:02.2", "0000:03:02.3"]);
    const why = await story("merged");
    for (const line of [
      "default/vf gets the device 0000:03:02.1 of intel.com/vf, from vf.example/node1/vf-1 of the claim merged-net-1, request r",
      "default/vf gets the device 0000:03:02.2 of intel.com/vf, from the device plugin",
      "skipped vf.example/node1/vf-x of the claim merged-net-1, request x: it has no attribute k8s.cni.cncf.io/resourceName",
      "skipped gpu.example/node1/gpu of the claim merged-net-1, request g: it has no attribute k8s.cni.cncf.io/deviceID",
      "skipped vf.example/node1/none of the claim merged-net-1, request n: no ResourceSlice of this node has it",
    ])
      expect(why).toContain(line);
  });

  test("two networks on one pool get the devices of their requests", async () => {
    await claim(cluster, "two-net-1", [
      ["blue", "vf-1"],
      ["red", "vf-2"],
    ]);
    expect((await add(await podWith(cluster, "two", "two-net-1", "red,blue"))).outcome.exitCode).toBe(0);
    expect(await devicesGiven(cluster)).toEqual(["0000:03:02.2", "0000:03:02.1"]);
    await claim(cluster, "one-net-1", [["blue", "vf-1"]]);
    await cluster.lab.forgetCalls();
    const { outcome } = await add(await podWith(cluster, "one", "one-net-1", "red"));
    expect(outcome.stdout).toContain("Cannot give default/red a device of net/red");
    expect(await devicesGiven(cluster)).toEqual([]);
  });

  test("a claim with the resource's name gives the kubelet's device, as with Multus 4.3.0", async () => {
    await claim(cluster, "own-claim", [["r", "vf-1"]]);
    const dynamic = protoMessage([
      [2, "own-claim"],
      [4, protoMessage([[1, protoMessage([[1, "vendor.example/net=eth7"]])]])],
    ]);
    const message = [
      [1, "named"],
      [2, "default"],
      [3, protoMessage([[5, dynamic]])],
    ] as const;
    kubelet.claims = [protoMessage(message)];
    expect((await add(await podWith(cluster, "named", "own-claim", "by-claim"))).outcome.exitCode).toBe(0);
    expect(await devicesGiven(cluster)).toEqual(["eth7"]);
  });

  test("a slice that changes is seen, and a claim without devices is waited for by the runtime", async () => {
    await applyAll(cluster.api, [published("vfs-2", { "vf-9": ["0000:03:03.1", "intel.com/vf"] }, { pool: "more" })]);
    await claim(cluster, "later-net-1", []);
    const pod = await podWith(cluster, "later", "later-net-1", "vf");
    const { outcome } = await add(pod);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining("it has no allocation"),
    });
    await allocate(cluster.api, "later-net-1", [["r", "vf-9"]]);
    await until("the pod is attached", async () => ((await add(pod)).outcome.exitCode === 0 ? true : undefined));
    expect((await devicesGiven(cluster)).at(-1)).toBe("0000:03:03.1");
  }, 60_000);

  test("without the right to read claims the error says what to apply", async () => {
    await claim(cluster, "denied-net-1", [["r", "vf-2"]]);
    const pod = await podWith(cluster, "denied", "denied-net-1", "vf");
    try {
      // A pod that the watch has not told of yet is asked for by name, and that is refused first.
      const told = await until("the daemon knows the pod", async () => {
        await cluster.api.delete(binding);
        const { outcome } = await add(pod);
        if (!outcome.stdout.includes("Cannot find the pod")) return outcome.stdout;
        await bind();
        await Bun.sleep(10_000);
        return undefined;
      });
      expect(told).toContain("apply the ClusterRole of this release");
      expect(await devicesGiven(cluster)).toEqual([]);
    } finally {
      await bind();
    }
  }, 120_000);
});

interface WrittenClaim extends KubeObject {
  readonly status: { readonly devices?: readonly { readonly device: string; readonly networkData?: object }[] };
}

const claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

/** Once the claim has as many devices with networkData. */
function networkData(name: string, count: number): Promise<WrittenClaim["status"]["devices"]> {
  return until(`${count} devices of the claim ${name} have networkData`, async () => {
    const { devices = [] } = (await cluster.api.get<WrittenClaim>(`${claims}/${name}`)).status;
    const written = devices.filter((one) => one.networkData !== undefined);
    return written.length === count ? devices.toSorted((one, two) => (one.device < two.device ? -1 : 1)) : undefined;
  });
}

/** What the driver says of a device. */
function driversEntry(device: string, more: object = {}): object {
  return { driver: "vf.example", pool: "node1", device, data: { firmware: "7" }, ...more };
}

const written = { interfaceName: "net1", ips: ["10.9.0.2/24"], hardwareAddress: "02:00:00:00:00:01" };

group("networkData of claims", () => {
  test("it is written beside what the driver says, and goes with the claim's devices", async () => {
    await claim(cluster, "data-net-1", [
      ["blue", "vf-1"],
      ["red", "vf-2"],
      ["gpu", "gpu", "gpu.example"],
    ]);
    await cluster.api.patch(`${claims}/data-net-1/status`, { status: { devices: [driversEntry("vf-2")] } });
    const pod = await podWith(cluster, "data", "data-net-1", "red,blue");
    const { call, outcome } = await add(pod);
    expect(outcome.exitCode).toBe(0);
    expect(await networkData("data-net-1", 2)).toMatchObject([
      { driver: "vf.example", pool: "node1", device: "vf-1", networkData: { ...written, interfaceName: "net2" } },
      { ...driversEntry("vf-2"), networkData: written },
    ]);
    // The claim keeps it until it loses its devices: then the server itself forgets the entries.
    expect((await cluster.lab.cni("DEL", call)).exitCode).toBe(0);
    await cluster.api.patch(`${claims}/data-net-1/status`, { status: { allocation: null } });
    expect((await cluster.api.get<WrittenClaim>(`${claims}/data-net-1`)).status.devices).toBeUndefined();
  }, 60_000);

  test("a daemon that starts writes what is missing", async () => {
    await claim(cluster, "late-net-1", [["blue", "vf-1"]]);
    expect((await add(await podWith(cluster, "late", "late-net-1", "blue"))).outcome.exitCode).toBe(0);
    await networkData("late-net-1", 1);
    await cluster.lab.killDaemon("SIGKILL");
    await cluster.api.patch(`${claims}/late-net-1/status`, { status: { devices: [] } });
    await cluster.startDaemon();
    expect(await networkData("late-net-1", 1)).toMatchObject([{ device: "vf-1", networkData: written }]);
  }, 60_000);

  test("what the driver itself has written stays, and the log says once why", async () => {
    const own = { interfaceName: "driver0" };
    for (const at of [1, 2]) {
      await claim(cluster, `own-net-${at}`, [["blue", "vf-1"]]);
      const devices = [driversEntry("vf-1", { networkData: own })];
      await cluster.api.patch(`${claims}/own-net-${at}/status`, { status: { devices } });
      expect((await add(await podWith(cluster, `own-${at}`, `own-net-${at}`, "blue"))).outcome.exitCode).toBe(0);
    }
    const refusals = (): number => cluster.lab.daemonLog.split("Apply failed with 1 conflict").length - 1;
    await until("the daemon has been refused", () => refusals() > 0 || undefined);
    for (const at of [1, 2])
      expect((await networkData(`own-net-${at}`, 1))?.map((one) => one.networkData)).toEqual([own]);
    expect(refusals()).toBe(1);
  }, 60_000);

  test("the policy lets the daemon's account write networkData, and nothing else of a claim", async () => {
    await applyAll(cluster.api, manifest("components/claim-network-data/policy.yaml"));
    await claim(cluster, "held-net-1", [["blue", "vf-1"]]);
    const path = `${claims}/held-net-1/status`;
    await cluster.api.patch(path, { status: { devices: [driversEntry("vf-1")] } });
    const daemon = { user: "system:serviceaccount:levee-system:levee" };
    const trial = `${path}?dryRun=All`;
    const as = (status: object): ReturnType<typeof cluster.server.ask> =>
      cluster.server.ask({ method: "PATCH", path: trial, body: { status }, type: mergePatch, as: daemon });
    // It counts some time after it was made.
    await until("the policy refuses another allocation", async () =>
      (await as({ allocation: null })).text.includes("neither the allocation") ? true : undefined,
    );
    expect(await as({ devices: [driversEntry("vf-1", { data: { firmware: "8" } })] })).toMatchObject({
      code: 403,
      text: expect.stringContaining("networkData only"),
    });
    expect((await as({ devices: [] })).code).toBe(403);
    expect((await as({ reservedFor: [{ resource: "pods", name: "a", uid: "b" }] })).code).toBe(403);
    expect((await as({ devices: [driversEntry("vf-1", { networkData: written })] })).code).toBe(200);
  }, 60_000);
});

group("devices by claims while the API server is away", () => {
  test("without the API server no device is given, and with it again the right one", async () => {
    await claim(cluster, "away-net-1", [["r", "vf-2"]]);
    const pod = await podWith(cluster, "away", "away-net-1", "vf");
    kubelet.allotted = { away: [["intel.com/vf", ["0000:03:02.9"]]] };
    await cluster.line.cut();
    const beganMs = performance.now();
    const { outcome } = await add(pod);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining("Cannot find the devices of the claims of default/away: the API server"),
    });
    expect(performance.now() - beganMs).toBeWithin(4_000, 9_000);
    expect(await devicesGiven(cluster)).toEqual([]);
    const call = add(pod);
    await Bun.sleep(1_500);
    await cluster.line.mend();
    if ((await call).outcome.exitCode !== 0)
      await until("the pod is attached", async () => ((await add(pod)).outcome.exitCode === 0 ? true : undefined));
    expect(await devicesGiven(cluster)).toEqual(["0000:03:02.2"]);
  }, 60_000);
});
