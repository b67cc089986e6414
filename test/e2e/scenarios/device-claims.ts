/** Devices by claims (DRA): the real scheduler gives them away, the real kubelet prepares them, Levee hands them on. */
import { expect, test } from "bun:test";
import { networkDriver, NetworkDraDriver, type AllocatedClaim } from "../beside/network-dra-driver.ts";
import type { Cluster } from "../cluster.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyAll, pathOf } from "../manifests.ts";
import { applyNetworks, deleteNetwork, hostLocal, network } from "../networks.ts";
import { podObject } from "../pods.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { networksAnnotation } from "../the-levee.ts";

const resourceName = "vf.example/port";
const hasId = 'has(device.attributes["k8s.cni.cncf.io"].deviceID)';
const devices = {
  "vf-1": ["0000:03:02.1", resourceName],
  "vf-2": ["0000:03:02.2", resourceName],
  "vf-3": ["0000:03:02.3", resourceName],
  "plain": [],
} as const;

test("each network gets the device of its request, and a network without one gets the device that is left", async () => {
  const { cluster, levee } = await theInstalled();
  await using driver = await NetworkDraDriver.start(cluster.api, devices);
  const { api } = cluster;
  const requests = ["red", "blue", "any"].map((name) => ({ name, ...vf(hasId) }));
  const other = { name: "other", ...vf(`!${hasId}`) };
  await applyAll(api, [
    {
      apiVersion: "resource.k8s.io/v1",
      kind: "ResourceClaimTemplate",
      metadata: { name: "ports" },
      spec: { spec: { devices: { requests: [...requests, other] } } },
    },
  ]);
  await applyNetworks(api, claimed("vf-red", 1, "net/red"), claimed("vf-blue", 2, "net/blue"), claimed("vf-any", 3));
  forgetRecorded();
  await runPod(cluster, "claims", "vf-blue,vf-any,vf-red");

  const pod = await api.get<{ status: { resourceClaimStatuses: readonly [{ resourceClaimName: string }] } }>(
    pathOf("Pod", "default", "claims"),
  );
  const claimPath = pathOf("ResourceClaim", "default", pod.status.resourceClaimStatuses[0].resourceClaimName);
  const { results } = (await api.get<AllocatedClaim>(claimPath)).status.allocation.devices;
  const idOf = (request: string): string => {
    const name = results.find((result) => result.request === request)?.device ?? "";
    return devices[name as keyof typeof devices]?.[0] ?? `none for ${name}`;
  };
  expect(driver.prepared).toHaveLength(1);
  expect(devicesGiven()).toEqual([idOf("blue"), idOf("any"), idOf("red")]);

  await cluster.pods.remove(["claims"]);
  await untilNothingIsLeft(levee);
  for (const name of ["vf-red", "vf-blue", "vf-any"]) await deleteNetwork(api, name);
  await api.delete(pathOf("ResourceClaimTemplate", "default", "ports"));
});

function vf(expression: string): object {
  return { exactly: { deviceClassName: networkDriver, selectors: [{ cel: { expression } }] } };
}

function claimed(name: string, number: number, request?: string): ReturnType<typeof network> {
  const config = { cniVersion: "1.0.0", type: "recorded-bridge", bridge: `claim${number}` };
  const object = network(name, { ...config, ipam: hostLocal(`10.97.${number}.0/24`) });
  const annotations = {
    "k8s.v1.cni.cncf.io/resourceName": resourceName,
    ...(request === undefined ? {} : { "levee.dev/device-request": request }),
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The scheduler binds it. */
async function runPod({ api, pods }: Cluster, name: string, asked: string): Promise<void> {
  const pod = podObject({ name, annotations: { [networksAnnotation]: asked } });
  const { nodeName: _bound, containers, ...spec } = pod["spec"] as { nodeName: string; containers: readonly object[] }; // made above
  await api.create(pathOf("Pod", "default"), {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map((container) => ({ ...container, resources: { claims: [{ name: "net" }] } })),
      resourceClaims: [{ name: "net", resourceClaimTemplateName: "ports" }],
    },
  });
  await pods.untilReady([name]);
}

/** In the order of the networks. */
function devicesGiven(): readonly unknown[] {
  const calls = recorded().filter(({ command, plugin }) => command === "ADD" && plugin === "recorded-bridge");
  return calls
    .toSorted((left, right) => left.ifname.localeCompare(right.ifname))
    .map(({ stdin }) => (JSON.parse(stdin) as { deviceID?: string }).deviceID);
}
