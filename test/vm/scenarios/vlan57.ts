/** The seeds' network on a real VLAN device: examples/prod-vlan57, both ways that its README describes. */
import { join } from "node:path";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { KubeObject } from "../../e2e/api.ts";
import { applyAll } from "../../e2e/manifests.ts";
import { deleteNetwork, network } from "../../e2e/networks.ts";
import { say } from "../../e2e/say.ts";
import { networksAnnotation } from "../../e2e/the-levee.ts";
import { expectPing, removePods, sandboxOf } from "../expectations.ts";
import { guestFacts } from "../guest.ts";
import { trunkLink, uplink } from "../node-files.ts";
import { theNode, type VmScene } from "../the-node.ts";
import { slowMs, slowly } from "../slowly.ts";

const example = join(import.meta.dir, "../../../examples/prod-vlan57");
const namespace = "kubevirt-vms";
const machines = [
  { name: "virt-launcher-ci1", mac: "02:57:00:00:00:01", address: "10.57.0.1" },
  { name: "virt-launcher-ci2", mac: "02:57:00:00:00:02", address: "10.57.0.2" },
];

test("two machines' pods reach the site in VLAN 57, tagged by the host's VLAN device", async () => {
  const scene = await theNode();
  await applyAll(scene.plane.api, [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    objectIn("network.yaml"),
  ]);
  const wanted = objectIn("pod.yaml").metadata.annotations?.[networksAnnotation] ?? "";
  const ifname = /"interface":"(\w+)"/u.exec(wanted)?.[1] ?? "";
  await untilNetwork(scene, `${namespace}/prod-vlan57`, "ready");
  await scene.plane.pods.create(
    machines.map(({ name, mac }) => ({
      ...{ name, namespace },
      annotations: { [networksAnnotation]: wanted.replace("02:57:00:00:00:01", mac) },
    })),
  );
  const pods = machines.map(({ name }) => name);
  await scene.plane.pods.untilReady(pods, { namespace, timeoutMs: slowMs });
  const facts = await guestFacts(scene.machine);
  for (const { name, mac, address } of machines) {
    const { links, netns } = sandboxOf(facts, name, namespace);
    expect(links.find((link) => link.ifname === ifname)).toMatchObject({ mac, kind: "veth", addresses: [] });
    // The plugin gives no address: on the real network a DHCP server does.
    await scene.machine.shell.run(`ip -n ${netns} addr add ${address}/24 dev ${ifname}`);
    await expectPing(scene, netns, "10.57.0.254");
  }
  say("both reach the site");
  await expectPing(scene, sandboxOf(facts, pods[0] ?? "", namespace).netns, "10.57.0.2");
  await removePods(scene, pods, namespace);
});

test("while the VLAN's device is missing or of another VLAN, the pod waits, and it starts by itself when that is mended", async () => {
  const scene = await theNode();
  const wanted = objectIn("pod.yaml").metadata.annotations?.[networksAnnotation] ?? "";
  const run = (command: string): Promise<unknown> => scene.machine.shell.run(command);
  await run(`ip link delete ${uplink}.57`);
  await scene.plane.pods.create([{ name: "waits", namespace, annotations: { [networksAnnotation]: wanted } }]);
  expect(await untilNetwork(scene, `${namespace}/prod-vlan57`, "not ready")).toContain("has no uplink");
  await run(
    `ip link add link ${uplink} name ${uplink}.57 type vlan id 58 && ip link set ${uplink}.57 master br-prod up`,
  );
  await slowly("the device of another VLAN is told", async () => {
    const why = await scene.levee.unready(`${namespace}/prod-vlan57`);
    return why?.includes("is the device of VLAN 58 instead of 57") === true ? true : undefined;
  });
  await run(
    `ip link delete ${uplink}.57 && ip link add link ${uplink} name ${uplink}.57 type vlan id 57 && ip link set ${uplink}.57 master br-prod up`,
  );
  await scene.plane.pods.untilReady(["waits"], { namespace, timeoutMs: slowMs });
  await removePods(scene, ["waits"], namespace);
});

test("on a bridge that carries all VLANs the network is ready only with the filter on, and then tags", async () => {
  const scene = await theNode();
  const config = { cniVersion: "1.0.0", type: "bridge", bridge: "br-trunk", vlan: 57 };
  const ipam = { type: "host-local", ranges: [[{ subnet: "10.158.0.0/24" }]] };
  await applyAll(scene.plane.api, [network("trunk57", { ...config, ipam })]);
  expect(await untilNetwork(scene, "default/trunk57", "not ready")).toContain("vlan_filtering");
  await scene.machine.shell.run(
    `ip link set br-trunk type bridge vlan_filtering 1 && bridge vlan add dev ${trunkLink} vid 57`,
  );
  await untilNetwork(scene, "default/trunk57", "ready");
  await scene.plane.pods.create([{ name: "trunk", annotations: { [networksAnnotation]: "trunk57" } }]);
  await scene.plane.pods.untilReady(["trunk"], { timeoutMs: slowMs });
  await expectPing(scene, sandboxOf(await guestFacts(scene.machine), "trunk").netns, "10.158.0.254");
  await removePods(scene, ["trunk"]);
  // After the next boot its bridge does not filter.
  await deleteNetwork(scene.plane.api, "trunk57");
});

/** Waits for the verdict of `levee check node`; the reason when it is not ready. */
function untilNetwork({ levee }: VmScene, name: string, verdict: "ready" | "not ready"): Promise<string> {
  return slowly(
    `${name} is ${verdict}`,
    async () => {
      const why = await levee.unready(name);
      if (verdict === "ready" && why !== undefined) throw new Error(why);
      // Until the next look a new definition is neither.
      return verdict === "ready" ? "" : why?.startsWith("unknown") === true ? undefined : why;
    },
    { everyMs: 3_000 },
  );
}

function objectIn(file: string): KubeObject {
  return parse(readFileSync(join(example, file), "utf8")) as KubeObject; // ours
}
