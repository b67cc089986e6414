import { expect } from "bun:test";
import { builtFolder } from "../../peers/peer.ts";
import { draExampleDriver } from "../../peers/dra-example-driver.ts";
import type { KubeObject } from "../api.ts";
import type { Cluster } from "../cluster.ts";
import { applyAll, pathOf } from "../manifests.ts";
import { applyNetworks, fetchFrom, hostLocal, network, podInterfaces } from "../networks.ts";
import { podObject } from "../pods.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { surroundings } from "../the-cluster.ts";
import { networksAnnotation } from "../the-levee.ts";
import { until } from "../until.ts";
import { DraNode, draDriverName } from "./dra-node.ts";

/** A claim that is made of a template, as in Multus' scenario, and one by its own name, which its network asks for. */
const template = "single-gpu";
const ownClaim = "one-gpu";

/**
 * A pod on a network with a resource name has a device that a driver allotted: the driver's variable is in its
 * environment. Beyond Multus' script, a claim that has the resource's name gives its device to the plugin. Their network
 * is a dummy device; kernels without that have a bridge.
 */
export async function deviceClaims(cluster: Cluster): Promise<void> {
  const folders = { driver: builtFolder(await draExampleDriver()), kubernetes: surroundings().kubernetes };
  const dra = await DraNode.start(cluster, folders);
  try {
    await applyAll(cluster.api, claims());
    await applyNetworks(cluster.api, draNetwork("dra-net", template), draNetwork("dra-own", ownClaim));
    forgetRecorded();
    await runPod(cluster, "dra-integration", "dra-net", { resourceClaimTemplateName: template });
    expect(deviceGivenTo("dra-integration")).toBeUndefined();
    await runPod(cluster, "dra-own", "dra-own", { resourceClaimName: ownClaim });
    expect(deviceGivenTo("dra-own")).toMatch(/^common$|-gpu-\d$/u);
    await cluster.pods.remove(["dra-integration", "dra-own"]);
    await cluster.api.delete(pathOf("ResourceClaim", "default", ownClaim));
  } finally {
    await dra.stop();
  }
}

/** The scheduler binds it. It serves what the driver put into its environment. */
async function runPod({ api, pods }: Cluster, name: string, networks: string, claim: object): Promise<void> {
  const pod = podObject({ name, annotations: { [networksAnnotation]: networks } });
  const {
    nodeName: _bound,
    containers,
    ...spec
  } = pod["spec"] as {
    // made above
    nodeName: string;
    containers: readonly object[];
  };
  const serve = "mkdir /www && echo $DRA_RESOURCE_DRIVER_NAME > /www/name && exec httpd -f -p 8080 -h /www";
  const command = ["/bin/sh", "-c", serve];
  const resources = { claims: [{ name: "gpu" }] };
  await api.create(pathOf("Pod", "default"), {
    ...pod,
    spec: {
      ...spec,
      containers: containers.map((container) => ({ ...container, command, resources })),
      resourceClaims: [{ name: "gpu", ...claim }],
    },
  });
  await pods.untilReady([name]);
  const address = podInterfaces(name).find(({ ifname }) => ifname === "net1")?.addresses[0] ?? "";
  expect(await until(`${name} answers`, () => fetchFrom(name, address))).toBe(draDriverName);
}

/** The device that the plugin of the newest pod was handed. */
function deviceGivenTo(pod: string): string | undefined {
  const call = recorded().findLast(({ command, ifname }) => command === "ADD" && ifname === "net1");
  if (call === undefined) throw new Error(`No network of ${pod} was attached`);
  return (JSON.parse(call.stdin) as { deviceID?: string }).deviceID;
}

function draNetwork(name: string, resource: string): KubeObject {
  const subnet = name === "dra-net" ? "10.1.2.0/24" : "10.1.3.0/24";
  const object = network(name, {
    cniVersion: "0.4.0",
    name,
    type: "recorded-bridge",
    bridge: `${name}0`,
    ipam: hostLocal(subnet),
  });
  const annotations = { "k8s.v1.cni.cncf.io/resourceName": resource };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function claims(): readonly KubeObject[] {
  const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: draDriverName } }] };
  const head = { apiVersion: "resource.k8s.io/v1" };
  return [
    { ...head, kind: "ResourceClaimTemplate", metadata: { name: template }, spec: { spec: { devices } } },
    { ...head, kind: "ResourceClaim", metadata: { name: ownClaim }, spec: { devices } },
  ];
}
