import { existsSync, rmSync } from "node:fs";
import { expect, test } from "bun:test";
import type { NodeAnswer } from "../../../src/wire/node-view.ts";
import { ask } from "../../lab/ask.ts";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { applyAll, manifest } from "../manifests.ts";
import { bridgePorts, leases } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { run } from "../run.ts";
import { say } from "../say.ts";
import { importLevee, startShippedPods } from "../shipped-pods.ts";
import { podsOn, theStoppedScene, type Scene } from "../the-levee.ts";
import { until } from "../until.ts";

const shipped = [
  { file: "install.yaml", away: "uninstall.yaml", namespace: "levee-system", socketDir: "/run/levee" },
  {
    file: "multus-drop-in.yaml",
    away: "overlays/multus-drop-in-uninstall",
    namespace: "kube-system",
    socketDir: "/run/multus",
  },
];

/** The image is made once; Levee runs in its pods only. */
async function inPods(): Promise<Scene> {
  const scene = await theStoppedScene();
  await scene.levee.stop();
  // As systemd has it on every node: the hand's view of the host must follow the host's mounts.
  run("mount", "--make-rshared", "/");
  importLevee(scene.cluster);
  rmSync(generatedConf, { force: true });
  return scene;
}

test.each(shipped)("the pods of deploy/$file, as containers: ready, and serving", async (each) => {
  const { cluster } = await inPods();
  const { namespace, socketDir } = each;
  const own = await startShippedPods(cluster, each.file);
  try {
    const pods = await cluster.pods.untilReady(own, { namespace });
    expect(pods.map((pod) => pod.status?.containerStatuses?.[0]?.restartCount)).toEqual([0, 0]);
    // A hand that found no daemon at its start is ready before it has connected again.
    await until("the hand has found the daemon", async () => {
      const node = await ask<NodeAnswer>(socketDir, { ask: "node" });
      return node.residentHands.length === 1 ? true : undefined;
    });
    // `levee check node --all` asks each node this.
    expect(await fetch("http://127.0.0.1:9810/nodez")).toMatchObject({ status: 200 });
    say(`${own.join(" and ")} are ready`);
    const names = ["shipped-01", "shipped-02"];
    await cluster.pods.run(podsOn(names, "blue, green"));
    for (const name of names) await untilTrueStatus(() => cluster.pods.get(name), ["default/blue", "default/green"]);
    await expectTraffic(names, "net1");
    // Read from the host's cgroups, which the daemon's pod has mounted.
    const metrics = await (await fetch("http://127.0.0.1:9810/metrics")).text();
    expect(metrics).toContain('levee_pod_oom_kills_total{namespace="default",pod="shipped-01"} 0\n');
    await cluster.pods.remove(names);
    expect([bridgePorts("blue0"), leases()]).toEqual([0, []]);
  } finally {
    await cluster.pods.remove(own, namespace);
  }
});

test.each(shipped)("the pod of deploy/$away takes the conf away and waits", async ({ file, away, namespace }) => {
  const { cluster } = await inPods();
  const daemon = await startShippedPods(cluster, file);
  await cluster.pods.untilReady(daemon, { namespace });
  expect(existsSync(generatedConf)).toBe(true);
  await cluster.pods.remove(daemon, namespace);
  expect(existsSync(generatedConf)).toBe(true);
  const gone = await startShippedPods(cluster, away);
  await cluster.pods.untilReady(gone, { namespace });
  expect(existsSync(generatedConf)).toBe(false);
  await cluster.pods.remove(gone, namespace);
  // The next scenario runs Levee with the rights of the base again.
  await applyAll(cluster.api, manifest("base/admission-policy.yaml"));
});
