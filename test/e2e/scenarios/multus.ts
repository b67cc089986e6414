import { expect, test } from "bun:test";
import { MultusNode } from "../node/multus-node.ts";
import { applyNetworks, bridgeNetwork, podInterfaces } from "../networks.ts";
import { surroundings, theCluster } from "../the-cluster.ts";

const names = ["one", "two", "three"];

test("three pods with two networks run with Multus, so the cluster itself is sound", async () => {
  const cluster = await theCluster();
  const multus = new MultusNode(cluster, "v4.2.2", surroundings().multus["v4.2.2"] ?? "");
  await multus.install();
  await multus.start();
  await cluster.untilNodeReady();
  await applyNetworks(cluster.api, bridgeNetwork("blue", "10.90.0.0/24"));
  await cluster.pods.run(names.map((name) => ({ name, annotations: { "k8s.v1.cni.cncf.io/networks": "blue" } })));
  for (const name of names) expect(podInterfaces(name).map(({ ifname }) => ifname)).toEqual(["eth0", "net1"]);
  await cluster.pods.remove(names);
  await multus.stop();
});
