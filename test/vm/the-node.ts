import { readFileSync } from "node:fs";
import { join } from "node:path";
import { applyNetworks, hostLocal, network } from "../e2e/networks.ts";
import { leveeNamespace, leveeProgram, shimProgram } from "../e2e/node/levee-node.ts";
import type { Pod } from "../e2e/pods.ts";
import { run } from "../e2e/run.ts";
import { say } from "../e2e/say.ts";
import { ControlPlane } from "./control-plane.ts";
import { LeveeInGuest } from "./levee-in-guest.ts";
import { leveeObjects, nodeImages } from "./levee-image.ts";
import { VirtualMachine } from "./machine/virtual-machine.ts";
import { kubeletAccess, nodeFiles, uplink } from "./node-files.ts";
import { makePayload } from "./payload.ts";
import { slowMs } from "./slowly.ts";
import { vmSurroundings } from "./surroundings.ts";

/** A cluster whose one node is a virtual machine, with Levee installed from its image and its manifests. */
export interface VmScene {
  readonly machine: VirtualMachine;
  readonly plane: ControlPlane;
  readonly levee: LeveeInGuest;
}

let made: Promise<VmScene> | undefined;
let running: Partial<VmScene> = {};

/** One boot for all scenarios; the first to ask starts it. */
export function theNode(): Promise<VmScene> {
  made ??= make();
  return made;
}

/** A scenario that failed half-way must not fail the next one: whatever is down is started, whatever is there is deleted. */
export async function tidyTheNode(): Promise<void> {
  const { machine, plane } = running;
  if (machine === undefined || plane === undefined) return;
  await plane.startApiServerAgain();
  if (!machine.isRunning) await machine.boot();
  const pods = await plane.api.list<Pod>("/api/v1/pods");
  const left = Map.groupBy(pods, ({ metadata }) => metadata.namespace ?? "");
  left.delete(leveeNamespace);
  for (const [namespace, some] of left) {
    const names = some.map(({ metadata }) => metadata.name);
    await plane.pods.delete(names, namespace);
    await plane.pods.untilGone(names, { namespace, timeoutMs: slowMs });
  }
}

export async function stopTheNode(): Promise<void> {
  await running.machine?.keepJournal();
  await running.machine?.stop();
  await running.plane?.stop();
}

async function make(): Promise<VmScene> {
  const { folder, image, images, busybox, kubernetes } = vmSurroundings();
  // The suite has a network namespace of its own.
  run("ip", "link", "set", "lo", "up");
  const plane = await ControlPlane.start(folder, kubernetes);
  running = { plane };
  say("the machine's second disk: kubelet, images, configuration");
  const payload = makePayload(folder, {
    programs: { "kubelet": join(kubernetes, "kubelet"), "levee": leveeProgram, "levee-shim": shimProgram },
    images: nodeImages(folder, busybox, images),
    files: [
      ...nodeFiles(),
      { path: "etc/kubernetes/kubelet.conf", text: kubeletAccess(readFileSync(plane.caFile, "utf8")), mode: 0o600 },
    ],
  });
  const machine = await VirtualMachine.make({ folder, image, payload });
  running = { plane, machine };
  await machine.boot();
  await plane.untilNodeReady(machine.bootId);
  say("the node is ready");
  await applyNetworks(plane.api, ...siteNetworks);
  const levee = new LeveeInGuest(machine, plane);
  await levee.install(leveeObjects(folder, images));
  return { machine, plane, levee };
}

/** Networks on the site's cable; those of the seeds' VLAN have a scenario of their own. */
const siteNetworks = [
  network("mac", {
    ...{ cniVersion: "1.0.0", type: "macvlan", master: uplink, mode: "bridge" },
    ipam: hostLocal("10.211.0.0/24"),
  }),
  network("lan", { cniVersion: "1.0.0", type: "bridge", bridge: "lan0", ipam: hostLocal("10.212.0.0/24") }),
];
