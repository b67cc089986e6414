/** The manifests of a release on a node that never had Levee, and off it again. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { NodeAnswer } from "../../../src/wire/node-view.ts";
import type { Cluster } from "../cluster.ts";
import { eventsOf, expectTraffic, untilTrueStatus } from "../expectations.ts";
import { bridgePorts, confFolder, leases, listing } from "../networks.ts";
import { runningContainers } from "../node/containerd.ts";
import { dropInWay, InstalledLevee, ownWay, type Way } from "../installed/installed-levee.ts";
import { generatedConf } from "../node/levee-node.ts";
import { BuildOfLevee } from "../installed/build-of-levee.ts";
import { say } from "../say.ts";
import { theUninstalled } from "../installed/the-installed.ts";
import { podsOn } from "../the-levee.ts";
import type { Pod } from "../pods.ts";
import { until } from "../until.ts";

const names = ["shipped-01", "shipped-02"];

test.each([ownWay, dropInWay])(
  "$manifest: all pods are rolled out, and serve; $away: the node is as before",
  async (way) => {
    const { cluster } = await theUninstalled();
    const before = { confs: listing(confFolder), objects: ownObjects(cluster) };
    const levee = new InstalledLevee(cluster, way);
    await levee.install();
    say(`${way.manifest} is rolled out`);
    for (const pod of [await levee.daemon.pod(), await levee.hand.pod()]) await expectShipped(cluster, pod, way);
    // A hand that found no daemon at its start is ready before it has connected again.
    await until("the hand has found the daemon", async () => {
      const { residentHands } = await levee.ask<NodeAnswer>({ ask: "node" });
      return residentHands.length === 1 || undefined;
    });
    // `levee check node --all` asks each node this.
    expect(await fetch("http://127.0.0.1:9810/nodez")).toMatchObject({ status: 200 });

    await cluster.pods.run(podsOn(names, "blue, green"));
    for (const name of names) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue", "default/green"]);
    await expectTraffic(names, "net1");
    // Read from the host's cgroups, which the daemon's pod has mounted.
    const metrics = await (await fetch("http://127.0.0.1:9810/metrics")).text();
    expect(metrics).toContain('levee_pod_oom_kills_total{namespace="default",pod="shipped-01"} 0\n');
    await cluster.pods.remove(names);
    expect([bridgePorts("blue0"), leases()]).toEqual([0, []]);
    expect(existsSync(generatedConf)).toBe(true);

    await levee.uninstall();
    say(`${way.away} has been applied and deleted`);
    expect({ confs: listing(confFolder), objects: ownObjects(cluster) }).toEqual(before);
    // kubectl waits for the DaemonSets, which do not wait for their pods.
    await until("no container of it is left", () => {
      const left = [way.container, "hand"].flatMap((name) => runningContainers(way.namespace, name));
      return left.length === 0 || undefined;
    });
    await cluster.pods.run(podsOn(["after"], "blue"));
    // Without Levee nobody reads the annotation.
    expect(leases()).toHaveLength(1);
    await cluster.pods.remove(["after"]);
  },
);

/** Nothing was pulled: its images are those that the node was given, by the digest in the manifest, and nothing failed. */
async function expectShipped(cluster: Cluster, pod: Pod, { namespace }: Way): Promise<void> {
  const image = BuildOfLevee.current().nameOf("levee");
  const containers = pod.status?.containerStatuses ?? [];
  expect(containers.map(({ restartCount }) => restartCount)).toEqual([0]);
  expect(containers.map(({ imageID }) => imageID)).toEqual([image]);
  const events = await eventsOf(cluster.api, pod.metadata.name, namespace);
  const pulled = events.filter(({ reason }) => reason === "Pulled").map(({ message }) => message);
  expect(new Set(pulled)).toEqual(new Set([`Container image "${image}" already present on machine`]));
  expect(events.filter(({ reason }) => reason === "Scheduled")).toHaveLength(1);
}

/** What an install makes, but for the type of networks. */
function ownObjects(cluster: Cluster): readonly string[] {
  const kinds = "namespace,daemonset,serviceaccount,configmap,controllerrevision,clusterrole,clusterrolebinding";
  const policies = "validatingadmissionpolicy,validatingadmissionpolicybinding";
  const all = cluster
    .kubectl(["get", `${kinds},${policies}`, "-A", "-o", "name"])
    .trim()
    .split("\n");
  return all.filter((name) => /levee|multus/u.test(name));
}
