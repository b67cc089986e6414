import { mkdir, mkdtemp, rm } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubeletSocket, podMessage, protoMessage, respond } from "../../../src/kube/kubelet/kubelet.fixture.ts";
import { slice } from "../../../src/kube/claims/slices.fixture.ts";
import type { KubeObject } from "../api.ts";
import { applyAll, pathOf } from "../manifests.ts";
import { networksAnnotation, node, type CompatCluster, type Pod } from "./compat-cluster.ts";

const resource = "/apis/resource.k8s.io/v1";

/** The kubelet's folder with a stand-in for its socket, which says which devices pods have. */
export class StandInKubelet implements AsyncDisposable {
  readonly folder: string;
  /** Devices of device plugins by pod. */
  allotted: Readonly<Record<string, readonly (readonly [string, string[]])[]>> = {};
  /** Pods with claims, as the kubelet's own messages. */
  claims: Buffer[] = [];
  #server: Http2Server | undefined;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async start(folder?: string): Promise<StandInKubelet> {
    const kubelet = new StandInKubelet(folder ?? (await mkdtemp(join(tmpdir(), "kubelet-"))));
    const sockets = join(kubelet.folder, "pod-resources");
    await mkdir(sockets, { recursive: true });
    kubelet.#server = await kubeletSocket(join(sockets, "kubelet.sock"), (stream) => {
      const pods = Object.entries(kubelet.allotted).map(([name, devices]) => podMessage("default", name, devices));
      respond(stream, protoMessage([...pods, ...kubelet.claims].map((pod) => [1, pod] as const)));
    });
    return kubelet;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server?.close();
    await rm(this.folder, { recursive: true });
  }
}

export const vfs: Parameters<typeof slice>[1] = {
  "vf-1": ["0000:03:02.1", "intel.com/vf"],
  "vf-2": ["0000:03:02.2", "intel.com/vf"],
  "vf-3": ["0000:03:02.3", "intel.com/vf"],
  "vf-x": ["0000:03:02.4"],
};

/** A slice of this node. */
export function published(
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

/** A network definition whose plugin is `second`. */
export async function deviceNetwork(
  cluster: CompatCluster,
  name: string,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
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

export type Given = readonly (readonly [request: string, device: string, driver?: string])[];

/** A claim as the scheduler leaves it; without devices it has no allocation yet. */
export async function claim({ api }: CompatCluster, name: string, given: Given): Promise<void> {
  const path = `${resource}/namespaces/default/resourceclaims`;
  const asked = given.length === 0 ? ["r"] : given.map(([request]) => request);
  const requests = [...new Set(asked)].map((request) => ({
    name: request,
    exactly: { deviceClassName: "any.example" },
  }));
  await api.create(path, {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name },
    spec: { devices: { requests } },
  });
  if (given.length > 0) await allocate(api, name, given);
}

export async function allocate(api: CompatCluster["api"], name: string, given: Given): Promise<void> {
  const results = given.map(([request, device, driver = "vf.example"]) => ({
    request,
    driver,
    pool: device === "vf-9" ? "more" : "node1",
    device,
  }));
  const path = `${resource}/namespaces/default/resourceclaims/${name}/status`;
  await api.patch(path, { status: { allocation: { devices: { results } } } });
}

/** A pod with a claim `net` of that name, which the controller has made from a template. */
export function podWith(cluster: CompatCluster, name: string, claimName: string, asked: string): Promise<Pod> {
  return makePod(cluster, name, asked, {
    resources: { claims: [{ name: "net" }] },
    spec: { resourceClaims: [{ name: "net", resourceClaimTemplateName: "template" }] },
    status: { resourceClaimStatuses: [{ name: "net", resourceClaimName: claimName }] },
  });
}

/** Which request of the claim stands for which extended resource of the pod's container. */
export type Mappings = readonly (readonly [resourceName: string, request: string])[];

/** A pod with extended resources, which the scheduler took from a driver by a claim of that name. */
export function podWithResources(
  cluster: CompatCluster,
  name: string,
  claimName: string,
  { asked, mappings }: { readonly asked: string; readonly mappings: Mappings },
): Promise<Pod> {
  const wanted = Object.fromEntries(mappings.map(([resourceName]) => [resourceName, "1"]));
  const requestMappings = mappings.map(([resourceName, requestName]) => ({
    containerName: "main",
    resourceName,
    requestName,
  }));
  return makePod(cluster, name, asked, {
    resources: { requests: wanted, limits: wanted },
    spec: {},
    status: { extendedResourceClaimStatus: { resourceClaimName: claimName, requestMappings } },
  });
}

async function makePod(
  cluster: CompatCluster,
  name: string,
  asked: string,
  { resources, spec, status }: { readonly resources: object; readonly spec: object; readonly status: object },
): Promise<Pod> {
  const pod = await cluster.api.create<Pod>(pathOf("Pod", "default"), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", annotations: { [networksAnnotation]: asked } },
    spec: { nodeName: node, containers: [{ name: "main", image: "main", resources }], ...spec },
  });
  const kept = await cluster.api.patch(`${pathOf("Pod", "default", name)}/status`, { status });
  const lost = Object.keys(status).find((key) => !Object.hasOwn(kept["status"] ?? {}, key));
  if (lost !== undefined) throw new Error(`The API server dropped ${lost} of the pod's status`);
  // The watch tells of the status before a kubelet could ask for an ADD.
  await Bun.sleep(300);
  return pod;
}

/** The devices that the plugin was handed, in the order of the networks. */
export async function devicesGiven({ lab }: CompatCluster): Promise<readonly unknown[]> {
  const calls = (await lab.calls()).filter(({ plugin, command }) => plugin === "second" && command === "ADD");
  return calls.map(({ stdin }) => (JSON.parse(stdin) as { deviceID?: string }).deviceID);
}
