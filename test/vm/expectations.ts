import { expect } from "bun:test";
import { statusOf } from "../e2e/expectations.ts";
import { isReady, type Pod } from "../e2e/pods.ts";
import { say } from "../e2e/say.ts";
import { guestFacts, type GuestFacts, type GuestSandbox } from "./guest.ts";
import type { VmScene } from "./the-node.ts";
import { slowMs, slowly } from "./slowly.ts";

/** Waits until the pods are ready in this boot, have an interface per network, and their status says the same. */
export async function untilAttached(
  { machine, plane }: VmScene,
  pods: readonly string[],
  networks: readonly string[],
): Promise<GuestFacts> {
  return slowly("each pod has its networks, and its status says so", async () => {
    const known = await plane.pods.list();
    const ready = known.filter((pod) => pods.includes(pod.metadata.name) && isReady(pod));
    if (ready.length < pods.length) throw new Error(`${ready.length} of ${pods.length} pods are ready`);
    const facts = await guestFacts(machine);
    for (const name of pods) {
      const pod = known.find(({ metadata }) => metadata.name === name);
      expect(toldBy(pod)).toEqual(expected(facts, name, networks));
    }
    return facts;
  });
}

function toldBy(pod: Pod | undefined): readonly unknown[] {
  return (pod === undefined ? [] : statusOf(pod)).map(({ name, interface: ifname, ips = [], mac }) => {
    return { name, ifname, ips, mac };
  });
}

function expected(facts: GuestFacts, pod: string, networks: readonly string[]): readonly unknown[] {
  const { links } = sandboxOf(facts, pod);
  return ["primary", ...networks].map((name, index) => {
    const ifname = index === 0 ? "eth0" : `net${index}`;
    const link = links.find((candidate) => candidate.ifname === ifname);
    return { name, ifname, ips: link?.addresses, mac: link?.mac };
  });
}

/** The one sandbox of a pod of the tests. */
export function sandboxOf(facts: GuestFacts, pod: string, namespace = "default"): GuestSandbox {
  const own = facts.sandboxes.filter((sandbox) => sandbox.namespace === namespace && sandbox.pod === pod);
  const [only] = own;
  if (only === undefined || own.length > 1) throw new Error(`Pod ${pod} has ${own.length} sandboxes`);
  return only;
}

/** Every address belongs to a sandbox that is there, and Levee knows of nothing else: nothing of an earlier boot is left. */
export async function untilNothingIsStale(scene: VmScene): Promise<void> {
  await slowly(
    "no address and no record of an earlier sandbox is left",
    async () => {
      const facts = await guestFacts(scene.machine);
      const alive = new Set(facts.sandboxes.map(({ id }) => id));
      const { attachments } = await scene.levee.attachments();
      const { leaks, quarantined } = await scene.levee.leaks();
      const stale = [
        ...facts.leases.filter(({ containerId }) => !alive.has(containerId)),
        ...attachments.filter(({ containerId }) => !alive.has(containerId)),
        ...leaks,
        ...quarantined,
      ];
      if (stale.length === 0) return true;
      throw new Error(`${stale.length} are left, the first is ${JSON.stringify(stale[0])}`);
    },
    { everyMs: 3_000 },
  );
}

/** The node and Levee are up again in the machine's present boot. */
export async function untilBack({ machine, plane, levee }: VmScene): Promise<void> {
  await plane.untilNodeReady(machine.bootId);
  say("the node is back");
  await levee.untilReady();
}

/** The site or another pod answers to a pod, through its vrf if one is named: a packet there and back. */
export async function expectPing({ machine }: VmScene, netns: string, address: string, vrf = ""): Promise<void> {
  const through = vrf === "" ? "" : `-I ${vrf} `;
  const told = await machine.shell.run(`ip netns exec ${netns} ping ${through}-c 3 -i 0.5 -W 20 ${address} || true`);
  expect(told).toMatch(/[1-3] received/u);
}

/** Deletes pods, and waits until nothing of any pod is left. */
export async function removePods(scene: VmScene, pods: readonly string[], namespace = "default"): Promise<void> {
  await scene.plane.pods.delete(pods, namespace);
  await scene.plane.pods.untilGone(pods, { namespace, timeoutMs: slowMs });
  await slowly("nothing is left of the pods", async () => {
    const { leases, veths, sandboxes } = await guestFacts(scene.machine);
    const boxes = sandboxes.filter((box) => box.namespace === namespace);
    const { attachments } = await scene.levee.attachments();
    const { leaks } = await scene.levee.leaks();
    const left = [...leases, ...veths, ...boxes, ...attachments, ...leaks];
    if (left.length === 0) return true;
    throw new Error(`${left.length} are left, the first is ${JSON.stringify(left[0])}`);
  });
}
