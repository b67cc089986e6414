/**
 * `multus.sock` during a move: containerd with a conf that names the real multus-shim, and the real controller of dynamic
 * networks, which plugs through `/delegate` what hot-plug attaches.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dynamicNetworks, multus, type MultusVersion } from "../../peers/multus.ts";
import { builtFolder } from "../../peers/peer.ts";
import { multusRun, startDynamicNetworks } from "../beside/dynamic-networks-node.ts";
import { eventsOf, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { pathOf } from "../manifests.ts";
import { applyNetworks, confFolder, hostLocal, network, podInterfaces } from "../networks.ts";
import type { Program } from "../program.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { networksAnnotation, podsOn, theStoppedScene } from "../the-levee.ts";
import { until } from "../until.ts";

const oldConf = join(confFolder, "00-a-multus.conf");
const oldShim = "/opt/cni/bin/multus-shim";
const longMs = 300_000;
let controller: Program;

beforeAll(async () => {
  const { cluster, levee } = await theStoppedScene();
  levee.configure({ multusSocketDir: multusRun });
  await levee.start();
  const plugged = { cniVersion: "1.0.0", type: "slow-bridge", bridge: "plugged0", ipam: hostLocal("10.89.0.0/24") };
  await applyNetworks(cluster.api, network("plugged", plugged));
}, longMs);

afterAll(async () => {
  await controller?.stop();
  for (const file of [oldConf, oldShim]) rmSync(file, { force: true });
});

/** The runtime's conf as Multus has left it. */
async function useOldShim(version: MultusVersion): Promise<void> {
  rmSync(oldShim, { force: true });
  copyFileSync(join(builtFolder(await multus(version)), "multus-shim"), oldShim);
  const primary = join(confFolder, "10-primary.conflist");
  const conf = { cniVersion: "0.3.1", name: "multus-cni-network", type: "multus-shim", clusterNetwork: primary };
  writeFileSync(oldConf, JSON.stringify({ ...conf, daemonSocketDir: multusRun }));
}

for (const version of ["v4.2.2", "v4.3.0"] as const) {
  test(
    `containerd starts and ends pods through multus-shim ${version}`,
    async () => {
      const { cluster, levee } = await theStoppedScene();
      await useOldShim(version);
      const pods = ["old-1", "old-2", "old-3"];
      await cluster.pods.run(podsOn(pods, "blue"));
      await untilTrueStatus(() => cluster.pods.get("old-1"), ["default/blue"]);
      expect(podInterfaces("old-1").map(({ ifname }) => ifname)).toEqual(["eth0", "net1"]);
      expect(levee.cli("why", "default/old-1")).toContain("bridge");
      // One is deleted by the new shim, as on a node whose conf has changed meanwhile.
      await cluster.pods.remove(["old-1"]);
      rmSync(oldConf);
      await cluster.pods.remove(["old-2", "old-3"]);
      await untilNothingIsLeft(levee);
    },
    longMs,
  );
}

test(
  "the controller of dynamic networks plugs and unplugs, and each change is made once",
  async () => {
    const { cluster, levee } = await theStoppedScene();
    controller = await startDynamicNetworks(cluster, builtFolder(await dynamicNetworks()));
    await cluster.pods.run(podsOn(["dynamic"], "blue@net1"));
    await untilTrueStatus(() => cluster.pods.get("dynamic"), ["default/blue"]);
    forgetRecorded();
    for (let turn = 1; turn <= 2; turn += 1) {
      await annotate("blue@net1,plugged@net2");
      // Its ADD takes two seconds, so the controller asks for it meanwhile.
      await untilController(`added interface default/plugged/net2 to pod default/dynamic`, turn);
      expect(podInterfaces("dynamic").map(({ ifname }) => ifname)).toEqual(["eth0", "net1", "net2"]);
      await untilTrueStatus(() => cluster.pods.get("dynamic"), ["default/blue", "default/plugged"], {
        inAnyOrder: true,
      });
      await annotate("blue@net1");
      // Levee may be done before the controller looks, which then finds nothing to do.
      // The controller writes the status, too, in the order of a Go map.
      await untilTrueStatus(() => cluster.pods.get("dynamic"), ["default/blue"], { inAnyOrder: true });
    }
    const calls = recorded().map(({ command }) => command);
    expect(calls).toEqual(["ADD", "DEL", "ADD", "DEL"]);
    const events = await eventsOf(cluster.api, "dynamic");
    expect(events.filter(({ message }) => message.includes("failed"))).toEqual([]);
    await cluster.pods.remove(["dynamic"]);
    await untilNothingIsLeft(levee);
  },
  longMs,
);

async function annotate(networks: string): Promise<void> {
  const { cluster } = await theStoppedScene();
  await cluster.api.patch(pathOf("Pod", "default", "dynamic"), {
    metadata: { annotations: { [networksAnnotation]: networks } },
  });
}

async function untilController(line: string, count: number): Promise<void> {
  await until(`the controller has written ${count} times: ${line}`, () => {
    const lines = readFileSync(controller.logFile, "utf8").split("\n");
    return lines.filter((one) => one.includes(line)).length >= count || undefined;
  });
}
