/** Devices by claims (DRA) on a real API server, with the rights of the manifests; the kubelet's socket is a stand-in. */
import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubeletSocket, podMessage, protoMessage, respond } from "../../src/kube/kubelet/kubelet.fixture.ts";
import { slice } from "../../src/kube/claims/slices.fixture.ts";
import type { CniCall, CniOutcome } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import type { KubeObject } from "./api.ts";
import { CompatCluster, networksAnnotation, node, type Pod } from "./compat/compat-cluster.ts";
import { applyAll, manifest, pathOf } from "./manifests.ts";
import { needsServer } from "./needs-server.ts";
import { personTokens } from "./policy-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterEach, afterAll } = needsServer("claims");
const resource = "/apis/resource.k8s.io/v1";
const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/daemon-of-test";

let cluster: CompatCluster;
let kubeletDir: string;
let kubelet: Http2Server;
/** What the kubelet says: device plugins' devices by pod. */
let allotted: Readonly<Record<string, readonly (readonly [string, string[]])[]>> = {};
let claimsOfKubelet: Buffer[] = [];
let conf: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  kubeletDir = await mkdtemp(join(tmpdir(), "kubelet-"));
  await mkdir(join(kubeletDir, "pod-resources"));
  kubelet = await kubeletSocket(join(kubeletDir, "pod-resources/kubelet.sock"), (stream) => {
    const pods = Object.entries(allotted).map(([name, devices]) => podMessage("default", name, devices));
    respond(stream, protoMessage([...pods, ...claimsOfKubelet].map((pod) => [1, pod] as const)));
  });
  cluster = await CompatCluster.start({ kubeletDir });
  await cluster.lab.killDaemon("SIGTERM");
  // The daemon is a user with the role of the manifests, and with nothing else.
  await writeFile(join(cluster.accountFolder, "token"), personTokens.carol);
  await applyAll(cluster.api, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "levee-system" } }]);
  await applyAll(cluster.api, manifest("base/access.yaml"));
  await bind();
  await cluster.startDaemon();
  for (const [name, annotations] of networks) await network(name, annotations);
  await applyAll(cluster.api, [published("vfs", vfs), published("gpus", { gpu: [] }, { driver: "gpu.example" })]);
  conf = { delegates: [{ cniVersion: "1.0.0", name: "primary", ...cluster.lab.conf("first") }] };
}, 120_000);

afterEach(async () => {
  [allotted, claimsOfKubelet] = [{}, []];
  await cluster.lab.forgetCalls();
});

afterAll(async () => {
  await cluster.stop();
  kubelet.close();
  await rm(kubeletDir, { recursive: true });
}, 60_000);

const vf = { "k8s.v1.cni.cncf.io/resourceName": "intel.com/vf" };
const networks: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["vf", vf],
  ["red", { ...vf, "levee.dev/device-request": "net/red" }],
  ["blue", { ...vf, "levee.dev/device-request": "net/blue" }],
  ["by-claim", { "k8s.v1.cni.cncf.io/resourceName": "own-claim" }],
];
const vfs: Parameters<typeof slice>[1] = {
  "vf-1": ["0000:03:02.1", "intel.com/vf"],
  "vf-2": ["0000:03:02.2", "intel.com/vf"],
  "vf-3": ["0000:03:02.3", "intel.com/vf"],
  "vf-x": ["0000:03:02.4"],
};

function published(
  name: string,
  devices: Parameters<typeof slice>[1],
  more: Parameters<typeof slice>[2] = {},
): KubeObject {
  const made = slice(name, devices, more) as { spec: object };
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name },
    spec: { ...made.spec, nodeName: node },
  };
}

async function bind(): Promise<void> {
  await applyAll(cluster.api, [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "daemon-of-test" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "levee" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "carol" }],
    },
  ]);
}

async function network(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const config = JSON.stringify({ cniVersion: "1.0.0", ...cluster.lab.conf("second") });
  await applyAll(cluster.api, [
    {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name, namespace: "default", annotations },
      spec: { config },
    },
  ]);
}

type Given = readonly (readonly [request: string, device: string, driver?: string])[];

/** A claim as the scheduler leaves it. */
async function claim(name: string, given: Given): Promise<void> {
  const path = `${resource}/namespaces/default/resourceclaims`;
  const requests = [...new Set(given.map(([request]) => request))].map((request) => ({
    name: request,
    exactly: { deviceClassName: "any.example" },
  }));
  await cluster.api.create(path, {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name },
    spec: { devices: { requests } },
  });
  const results = given.map(([request, device, driver = "vf.example"]) => ({ request, driver, pool: "node1", device }));
  await cluster.api.patch(`${path}/${name}/status`, { status: { allocation: { devices: { results } } } });
}

/** A pod with a claim `net` of that name, which the controller has made from a template. */
async function podWith(name: string, claimName: string, asked: string): Promise<Pod> {
  const pod = await cluster.api.create<Pod>(pathOf("Pod", "default"), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", annotations: { [networksAnnotation]: asked } },
    spec: {
      nodeName: node,
      containers: [{ name: "main", image: "main", resources: { claims: [{ name: "net" }] } }],
      resourceClaims: [{ name: "net", resourceClaimTemplateName: "template" }],
    },
  });
  const status = { resourceClaimStatuses: [{ name: "net", resourceClaimName: claimName }] };
  await cluster.api.patch(`${pathOf("Pod", "default", name)}/status`, { status });
  // The watch tells of the status before a kubelet could ask for an ADD.
  await Bun.sleep(300);
  return pod;
}

async function add(pod: Pod): Promise<{ call: CniCall; outcome: CniOutcome }> {
  const call = cluster.call(pod, conf);
  return { call, outcome: await cluster.lab.cni("ADD", call) };
}

/** The devices that the plugin was handed, in the order of the networks. */
async function devicesGiven(): Promise<readonly unknown[]> {
  const calls = (await cluster.lab.calls()).filter(({ plugin, command }) => plugin === "second" && command === "ADD");
  return calls.map(({ stdin }) => (JSON.parse(stdin) as { deviceID?: string }).deviceID);
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
    await claim("merged-net-1", given);
    allotted = { merged: [["intel.com/vf", ["0000:03:02.2"]]] };
    const { outcome } = await add(await podWith("merged", "merged-net-1", "vf,vf,vf"));
    expect(outcome.exitCode).toBe(0);
    expect(await devicesGiven()).toEqual(["0000:03:02.1", "0000:03:02.2", "0000:03:02.3"]);
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
    await claim("two-net-1", [
      ["blue", "vf-1"],
      ["red", "vf-2"],
    ]);
    expect((await add(await podWith("two", "two-net-1", "red,blue"))).outcome.exitCode).toBe(0);
    expect(await devicesGiven()).toEqual(["0000:03:02.2", "0000:03:02.1"]);
    await claim("one-net-1", [["blue", "vf-1"]]);
    await cluster.lab.forgetCalls();
    const { outcome } = await add(await podWith("one", "one-net-1", "red"));
    expect(outcome.stdout).toContain("Cannot give default/red a device of net/red");
    expect(await devicesGiven()).toEqual([]);
  });

  test("a claim with the resource's name gives the kubelet's device, as with Multus 4.3.0", async () => {
    await claim("own-claim", [["r", "vf-1"]]);
    const dynamic = protoMessage([
      [2, "own-claim"],
      [4, protoMessage([[1, protoMessage([[1, "vendor.example/net=eth7"]])]])],
    ]);
    const message = [
      [1, "named"],
      [2, "default"],
      [3, protoMessage([[5, dynamic]])],
    ] as const;
    claimsOfKubelet = [protoMessage(message)];
    expect((await add(await podWith("named", "own-claim", "by-claim"))).outcome.exitCode).toBe(0);
    expect(await devicesGiven()).toEqual(["eth7"]);
  });

  test("a slice that changes is seen, and a claim without devices is waited for by the runtime", async () => {
    await applyAll(cluster.api, [published("vfs-2", { "vf-9": ["0000:03:03.1", "intel.com/vf"] }, { pool: "more" })]);
    const path = `${resource}/namespaces/default/resourceclaims`;
    const head = { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata: { name: "later-net-1" } };
    const requests = [{ name: "r", exactly: { deviceClassName: "any.example" } }];
    await cluster.api.create(path, { ...head, spec: { devices: { requests } } });
    const pod = await podWith("later", "later-net-1", "vf");
    const { outcome } = await add(pod);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining("it has no allocation"),
    });
    const results = [{ request: "r", driver: "vf.example", pool: "more", device: "vf-9" }];
    const status = { allocation: { devices: { results } } };
    await cluster.api.patch(`${path}/later-net-1/status`, { status });
    await until("the pod is attached", async () => ((await add(pod)).outcome.exitCode === 0 ? true : undefined));
    expect((await devicesGiven()).at(-1)).toBe("0000:03:03.1");
  }, 60_000);

  test("without the right to read claims the error says what to apply", async () => {
    await claim("denied-net-1", [["r", "vf-2"]]);
    const pod = await podWith("denied", "denied-net-1", "vf");
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
      expect(await devicesGiven()).toEqual([]);
    } finally {
      await bind();
    }
  }, 120_000);

  test("without the API server no device is given, and with it again the right one", async () => {
    await claim("away-net-1", [["r", "vf-2"]]);
    const pod = await podWith("away", "away-net-1", "vf");
    allotted = { away: [["intel.com/vf", ["0000:03:02.9"]]] };
    await cluster.line.cut();
    const beganMs = performance.now();
    const { outcome } = await add(pod);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining("Cannot find the devices of the claims of default/away: the API server"),
    });
    expect(performance.now() - beganMs).toBeWithin(4_000, 9_000);
    expect(await devicesGiven()).toEqual([]);
    const call = add(pod);
    await Bun.sleep(1_500);
    await cluster.line.mend();
    if ((await call).outcome.exitCode !== 0)
      await until("the pod is attached", async () => ((await add(pod)).outcome.exitCode === 0 ? true : undefined));
    expect(await devicesGiven()).toEqual(["0000:03:02.2"]);
  }, 60_000);
});
