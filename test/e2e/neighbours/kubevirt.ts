/**
 * The pods of KubeVirt's virtual machines, without KubeVirt's images: its own code writes their annotations and reads
 * network-status; the machine is that of examples/prod-vlan57.
 */
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { askKubevirt } from "../beside/kubevirt-words.ts";
import { statusOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyAll, objectsOf, pathOf } from "../manifests.ts";
import { applyNetworks, hostLocal, network, podInterfaces } from "../networks.ts";
import { podObject, type Pod } from "../pods.ts";
import { networksAnnotation, theScene } from "../the-levee.ts";
import { until } from "../until.ts";

const namespace = "kubevirt-vms";
const mac = "02:57:00:00:00:01";
/** "pod" and the beginning of the SHA-256 of the network's name in the machine, which is "prod". */
const ifname = "pod6754af9632a";
/** What else the controller writes on every launcher pod. */
const launcherAnnotations = {
  "kubevirt.io/domain": "ci1",
  "kubevirt.io/migrationTransportUnix": "true",
  "kubectl.kubernetes.io/default-container": "compute",
  "descheduler.alpha.kubernetes.io/request-evict-only": "",
};

beforeAll(async () => {
  const { cluster } = await theScene();
  await cluster.addNamespace(namespace);
  await applyAll(cluster.api, example("network.yaml"));
  const lan = { cniVersion: "0.3.1", type: "bridge", bridge: "lan0", ipam: hostLocal("10.88.0.0/24") };
  await applyNetworks(cluster.api, network("lan", lan, namespace));
}, 120_000);

test("a launcher pod has the interface and the MAC that KubeVirt asks for, and KubeVirt finds them in network-status", async () => {
  const { levee } = await theScene();
  const { annotations = {} } = await askKubevirt(machine());
  expect(JSON.parse(annotations[networksAnnotation] ?? "")).toEqual([
    { name: "prod-vlan57", namespace, mac, interface: ifname },
  ]);
  const pod = await launch("virt-launcher-ci1-a", annotations);
  expect(podInterfaces(pod.metadata.name)).toMatchObject([{ ifname: "eth0" }, { ifname, mac, addresses: [] }]);
  expect(statusOf(pod)).toMatchObject([
    { name: "primary", interface: "eth0", default: true },
    { name: `${namespace}/prod-vlan57`, interface: ifname, mac },
  ]);
  expect(await askKubevirt(machine(), pod)).toEqual({
    interfaces: [
      { name: "default", podInterfaceName: "eth0" },
      { name: "prod", podInterfaceName: ifname, infoSource: "multus-status" },
    ],
  });
  await remove("virt-launcher-ci1-a");
  await untilNothingIsLeft(levee);
});

test("the pod that a machine migrates to has the same MAC while the first one still runs", async () => {
  const { annotations = {} } = await askKubevirt(machine());
  const source = await launch("virt-launcher-ci1-a", annotations);
  const { target = {} } = await askKubevirt(machine(), source);
  const moved = await launch("virt-launcher-ci1-b", { ...annotations, ...target });
  for (const pod of [source, moved])
    expect(podInterfaces(pod.metadata.name)).toMatchObject([{ ifname: "eth0" }, { ifname, mac }]);
  await remove("virt-launcher-ci1-a");
  expect(podInterfaces("virt-launcher-ci1-b")).toMatchObject([{ ifname: "eth0" }, { ifname, mac }]);
  await remove("virt-launcher-ci1-b");
});

test("a machine of an older KubeVirt has net1: KubeVirt sees it, and migrates it with that name", async () => {
  const request = { name: "prod-vlan57", namespace, mac };
  const pod = await launch("virt-launcher-old", { [networksAnnotation]: JSON.stringify([request]) });
  const { interfaces, target = {} } = await askKubevirt(machine(), pod);
  expect(interfaces?.map(({ podInterfaceName }) => podInterfaceName)).toEqual(["eth0", "net1"]);
  expect(JSON.parse(target[networksAnnotation] ?? "")).toEqual([{ ...request, interface: "net1" }]);
  const moved = await launch("virt-launcher-new", target);
  expect(podInterfaces("virt-launcher-new")).toMatchObject([{ ifname: "eth0" }, { ifname: "net1", mac }]);
  expect(statusOf(moved).map(({ interface: name }) => name)).toEqual(["eth0", "net1"]);
  await remove("virt-launcher-old");
  await remove("virt-launcher-new");
});

test("a machine whose default network is a definition has it as eth0, and KubeVirt takes it for the primary", async () => {
  const { levee } = await theScene();
  const networks = [{ name: "default", multus: { networkName: `${namespace}/lan`, default: true } }];
  const domain = { devices: { interfaces: [{ name: "default", bridge: {} }] } };
  const onLan = { ...machine(), spec: { domain, networks } };
  const { annotations = {} } = await askKubevirt(onLan);
  const pod = await launch("virt-launcher-lan", annotations);
  expect(podInterfaces("virt-launcher-lan")[0]?.addresses[0]).toStartWith("10.88.0.");
  expect(statusOf(pod)).toMatchObject([{ name: `${namespace}/lan`, interface: "eth0", default: true }]);
  expect((await askKubevirt(onLan, pod)).interfaces).toEqual([{ name: "default", podInterfaceName: "eth0" }]);
  await remove("virt-launcher-lan");
  await untilNothingIsLeft(levee);
});

/** The running machine of the example, as the API server would have it. */
function machine(): object {
  const vm = example("virtual-machine.yaml").find(({ kind }) => kind === "VirtualMachine");
  if (vm === undefined) throw new Error("The example has no VirtualMachine");
  const { template } = vm["spec"] as { template: { spec: object } }; // as the example is written
  const metadata = { name: "ci1", namespace, uid: "b5a3c1f0-57aa-4e57-9c57-000000000057" };
  return { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", metadata, spec: template.spec };
}

/** Starts a pod as the launcher's template has it, less what needs KubeVirt's images; the pod once its status is there. */
async function launch(name: string, annotations: Readonly<Record<string, string>>): Promise<Pod> {
  const { cluster } = await theScene();
  const pod = podObject({ name, namespace, annotations: { ...launcherAnnotations, ...annotations } });
  const labels = { "kubevirt.io": "virt-launcher", "vm.kubevirt.io/name": "ci1" };
  const { containers, ...spec } = pod["spec"] as { containers: readonly object[] }; // made above
  const compute = containers.map((container) => ({ ...container, name: "compute" }));
  await cluster.api.create(pathOf("Pod", namespace), {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...spec, containers: compute },
  });
  await cluster.pods.untilReady([name], { namespace });
  return until(`${name} has its network-status`, async () => {
    const now = await cluster.pods.get(name, namespace);
    return statusOf(now).length > 0 ? now : undefined;
  });
}

async function remove(name: string): Promise<void> {
  const { cluster } = await theScene();
  await cluster.pods.remove([name], namespace);
}

function example(file: string): ReturnType<typeof objectsOf> {
  return objectsOf(join(import.meta.dir, "../../../examples/prod-vlan57", file));
}
