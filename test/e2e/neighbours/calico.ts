import { beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { calico } from "../../peers/calico.ts";
import { builtFolder } from "../../peers/peer.ts";
import {
  calicoHandles,
  calicoInterfaces,
  calicoKubeconfig,
  installCalico,
  renewCalicoKubeconfig,
} from "../beside/calico-node.ts";
import { pluginText, withMembers } from "../beside/plugin-text.ts";
import { expectTraffic, statusOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { confFolder, podInterfaces } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { forgetRecorded, recorded } from "../recorder.ts";
import { say } from "../say.ts";
import { names, podsOn, theStoppedScene, type Scene } from "../the-levee.ts";
import { until } from "../until.ts";

const longMs = 300_000;
const twenty = names("calico", 20);

let scene: Scene;
let conf = "";

beforeAll(async () => {
  scene = await theStoppedScene();
  rmSync(join(confFolder, "10-primary.conflist"));
  conf = await installCalico(scene.cluster, builtFolder(await calico()));
  await scene.levee.start();
  await scene.cluster.untilNodeReady();
}, longMs);

test(
  "20 pods at once on Calico and a second network: addresses from its IPAM, traffic over both, nothing is left",
  async () => {
    const { cluster, levee } = scene;
    const pods = await cluster.pods.run(podsOn(twenty, "blue"), longMs);
    say("20 pods are ready");
    const addresses = twenty.map(
      (pod) => podInterfaces(pod).find(({ ifname }) => ifname === "eth0")?.addresses[0] ?? "",
    );
    for (const address of addresses) expect(address).toStartWith("10.246.");
    expect(new Set(addresses).size).toBe(20);
    expect((await calicoHandles(cluster.api)).length).toBe(20);
    for (const [index, name] of twenty.entries()) {
      const pod = await untilStatus(name);
      expect(statusOf(pod).map((status) => status.name)).toEqual(["k8s-pod-network", "default/blue"]);
      expect(pod.metadata.annotations?.["cni.projectcalico.org/podIP"]).toBe(`${addresses[index]}/32`);
    }
    expect(pods.map(({ status }) => status?.podIP).toSorted()).toEqual([...addresses].toSorted());
    await expectTraffic(twenty, "eth0");
    await expectTraffic(twenty, "net1");
    await cluster.pods.remove(twenty);
    await untilNothingIsLeft(levee);
    await untilCalicoHoldsNothing();
  },
  2 * longMs,
);

test(
  "its conf reaches the plugin byte for byte, with the path of its kubeconfig, at ADD and at DEL",
  async () => {
    const { cluster, levee } = scene;
    forgetRecorded();
    await cluster.pods.run(podsOn(["bytes"], "blue"));
    await cluster.pods.remove(["bytes"]);
    await untilNothingIsLeft(levee);
    const expected = withMembers(pluginText(conf, "calico"), { name: "k8s-pod-network", cniVersion: "0.3.1" });
    const calls = recorded().filter(({ plugin }) => plugin === "calico");
    expect(calls.map(({ command }) => command)).toEqual(["ADD", "DEL"]);
    for (const { stdin } of calls) expect(withoutPrevResult(stdin)).toBe(expected);
    expect(calls[0]?.stdin).toContain(`"kubeconfig": "${calicoKubeconfig}"`);
  },
  longMs,
);

test(
  "its kubeconfig is renewed in the conf folder: Levee's conf stays, and pods still start",
  async () => {
    const { cluster, levee } = scene;
    const before = readFileSync(generatedConf, "utf8");
    await renewCalicoKubeconfig(cluster);
    await cluster.pods.run(podsOn(["renewed"], "blue"));
    expect(readFileSync(generatedConf, "utf8")).toBe(before);
    await cluster.pods.remove(["renewed"]);
    await untilNothingIsLeft(levee);
    await untilCalicoHoldsNothing();
  },
  longMs,
);

function untilStatus(name: string): ReturnType<Scene["cluster"]["pods"]["get"]> {
  return until(`${name} has its network status`, async () => {
    const pod = await scene.cluster.pods.get(name);
    return statusOf(pod).length === 2 ? pod : undefined;
  });
}

async function untilCalicoHoldsNothing(): Promise<void> {
  await until("Calico holds nothing", async () => {
    expect([...(await calicoHandles(scene.cluster.api)), ...calicoInterfaces()]).toEqual([]);
    return true;
  });
}

/** DEL has the result of ADD behind everything else. */
function withoutPrevResult(stdin: string): string {
  return stdin.replace(/,"prevResult":\{.*\}(?=\s*\}$)/su, "");
}
