import { expect, test } from "bun:test";
import type { LeaksAnswer } from "../../src/wire/node-view.ts";
import { realBridge } from "../conformance/bridge.ts";
import { ip, type Lab } from "../lab/lab.ts";
import { addresses, ipamFolder } from "../lab/leftovers.ts";
import { annotate, makePlugNode, networksOfPod, runPod } from "../plug/plug-node.ts";
import { attachments, pause } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";
import { randomFrom, seed } from "./seed.ts";

const rounds = 8;
/** What the annotation names, by turns: nothing, one network, several, others under the names of those before. */
const choices: readonly (readonly string[])[] = [
  [],
  ["one net1"],
  ["two net1"],
  ["one net1", "two net2"],
  ["two net1", "one net2"],
  ["one net5", "one net6", "two net7"],
];

test(`daemon and hand are killed at random in the middle of changes of real bridges: record, interfaces and addresses agree (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const choose = (): readonly string[] => choices[Math.floor(random() * choices.length)] ?? [];
  await using first = realBridge("y");
  await using second = realBridge("z");
  await using lab = await makePlugNode();
  const dataDir = ipamFolder(lab);
  await lab.network("one", first.conf("one", { dataDir }));
  await lab.network("two", second.conf("two", { dataDir }));
  const call = await runPod(lab);
  for (let round = 0; round < rounds; round += 1) {
    let wanted = choose();
    await annotate(lab, textOf(wanted));
    await pause(random() * 250);
    const [killsDaemon, killsHand] = [random() < 0.6, random() < 0.6];
    if (killsDaemon) await lab.killDaemon();
    if (killsHand) await lab.killHand();
    if (random() < 0.4) await annotate(lab, textOf((wanted = choose())));
    if (killsDaemon) await lab.startDaemon();
    if (killsHand) await lab.startHand();
    await untilAgreed(lab, { netns: call.netns, wanted, round });
  }
  // No plugin of the primary network has run since the pod's ADD.
  const plugins = (await lab.calls()).map(({ plugin }) => plugin);
  expect(plugins.filter((plugin) => plugin === "alpha" || plugin === "beta")).toEqual([]);
  // While the hand of a change is alive and not connected, a DEL is answered "try later", and the runtime comes again.
  await lab.until("the DEL succeeds", async () => ((await lab.cni("DEL", call)).exitCode === 0 ? true : undefined));
  await expectNothingLeft(lab, { netns: [call.netns], bridges: [first.device, second.device] });
});

function textOf(networks: readonly string[]): string {
  return networks.length === 0 ? "[]" : networks.map((one) => one.replace(" ", "@")).join(",");
}

interface Agreed {
  readonly netns: string;
  readonly wanted: readonly string[];
  readonly round: number;
}

/** The pod has what its annotation names: in the record, as interfaces, and as addresses. Nothing else is there. */
async function untilAgreed(lab: Lab, { netns, wanted, round }: Agreed): Promise<void> {
  const ifnames = wanted.map((one) => one.split(" ")[1] ?? "").toSorted();
  const goal = { phase: "attached", networks: wanted.toSorted(), ifnames, addresses: wanted.length, leaks: 0 };
  let seen: unknown;
  await lab
    .until("the pod has its networks", async () => {
      seen = await nowOf(lab, netns);
      return Bun.deepEquals(seen, goal) || undefined;
    })
    .catch((thrown: unknown) => {
      throw new Error(`Round ${round}: it has ${JSON.stringify(seen)}, not ${JSON.stringify(goal)}\n${String(thrown)}`);
    });
}

async function nowOf(lab: Lab, netns: string): Promise<unknown> {
  const links = ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "-j", "link"]);
  const names = (JSON.parse(links) as readonly { readonly ifname: string }[]).map(({ ifname }) => ifname);
  const { leaks } = await lab.ask<LeaksAnswer>({ ask: "leaks" });
  return {
    phase: (await attachments(lab))[0]?.phase,
    networks: (await networksOfPod(lab)).toSorted(),
    ifnames: names.filter((name) => name !== "lo").toSorted(),
    addresses: (await addresses(lab)).length,
    leaks: leaks.length,
  };
}
