import { expect, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { attachments, eachOf, isDead, pause, story, untilRunning, type PodCall } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";
import { annotate, makePlugNode, networksOfPod, runPod, untilNetworks } from "../plug/plug-node.ts";
import type { Lab } from "../lab/lab.ts";

/** The pod has `second` as net1 before each of these. */
const changes = [
  { name: "plug", networks: "second,third", after: ["second net1", "third net2"], writes: 3 },
  { name: "unplug", networks: "[]", after: [], writes: 2 },
  { name: "swap", networks: '[{"name":"third","interface":"net1"}]', after: ["third net1"], writes: 3 },
  { name: "failed swap", networks: '[{"name":"third","interface":"net1"}]', after: ["third net1"], writes: 3 },
] as const;

interface Case {
  readonly name: string;
  readonly write: number;
  /** Whether the annotation is set back while no daemon runs. */
  readonly isTakenBack: boolean;
}

const cases: readonly Case[] = changes.flatMap(({ name, writes }) =>
  Array.from({ length: writes }, (_, index) => [
    { name, write: index + 1, isTakenBack: false },
    { name, write: index + 1, isTakenBack: true },
  ]).flat(),
);

test("the daemon is killed after each journal write of a change: the pod ends with the old or the new networks", async () => {
  await eachOf(cases, 2, killAt);
});

async function killAt({ name, write, isTakenBack }: Case): Promise<void> {
  const change = changes.find((one) => one.name === name);
  if (change === undefined) throw new Error(`There is no change ${name}`);
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await lab.killDaemon("SIGTERM");
  if (name === "failed swap") await lab.script("delta.ADD", 'echo \'{"code":77,"msg":"no luck"}\'; exit 1');
  const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${write}` });
  await annotate(lab, change.networks);
  await untilDead(lab, daemon);
  await lab.unscript("delta.ADD");
  if (isTakenBack) await annotate(lab, "second");
  await lab.startDaemon();
  await untilSettled(lab, isTakenBack ? ["second net1"] : change.after);
  await endPod(lab, call);
}

async function untilDead(lab: Lab, daemon: ChildProcess): Promise<void> {
  await lab.until("the daemon is killed", () => Promise.resolve(isDead(daemon) || undefined));
}

/** The networks are as wanted, and stay so. They may be so before the next daemon has begun, and not while it works. */
async function untilSettled(lab: Lab, networks: readonly string[]): Promise<void> {
  const isWanted = async (): Promise<boolean> => {
    const phases = (await attachments(lab)).map(({ phase }) => phase);
    return Bun.deepEquals(phases, ["attached"]) && Bun.deepEquals(await networksOfPod(lab), networks);
  };
  await untilNetworks(lab, networks);
  await lab.until(`the pod keeps ${networks.join(", ")}`, async () => {
    for (let look = 0; look < 5; look += 1) {
      if (!(await isWanted())) return undefined;
      await pause(100);
    }
    return true;
  });
}

async function endPod(lab: Lab, call: PodCall): Promise<void> {
  // While the hand of a change is alive and not connected, a DEL is answered "try later", and the runtime comes again.
  await lab.until("the DEL succeeds", async () => ((await lab.cni("DEL", call)).exitCode === 0 ? true : undefined));
  await expectNothingLeft(lab, { netns: [call.netns], apartFrom: /without a DEL/ });
  expect(await openAdds(lab)).toEqual([]);
}

/** The pod's own ADD was forgotten, so only the calls since then are compared. */
async function openAdds(lab: Lab): Promise<readonly string[]> {
  const open: string[] = [];
  for (const { command, plugin, ifname } of await lab.calls()) {
    const place = `${plugin} ${ifname}`;
    if (command === "ADD") open.push(place);
    if (command === "DEL") for (let at = open.indexOf(place); at >= 0; at = open.indexOf(place)) open.splice(at, 1);
  }
  return open;
}

const runs = [
  { name: "plug", command: "ADD", plugin: "delta" },
  { name: "unplug", command: "DEL", plugin: "gamma" },
  { name: "swap", command: "DEL", plugin: "gamma" },
  { name: "swap", command: "ADD", plugin: "delta" },
] as const;

test("the hand is killed while each plugin of a change runs: the next hand ends it", async () => {
  await eachOf(runs, 2, async ({ name, command, plugin }) => {
    const change = changes.find((one) => one.name === name);
    if (change === undefined) throw new Error(`There is no change ${name}`);
    await using lab = await makePlugNode();
    const call = await runPod(lab);
    await lab.script(`${plugin}.${command}`, "sleep 60");
    await annotate(lab, change.networks);
    await untilRunning(lab, command, plugin);
    await lab.killHand();
    await lab.unscript(`${plugin}.${command}`);
    await lab.startHand();
    await untilSettled(lab, change.after);
    await endPod(lab, call);
  });
});

test("the hand is killed in the middle of a swap and none comes back: the runtime's DEL removes both networks", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await lab.script("delta.ADD", "sleep 60");
  await annotate(lab, '[{"name":"third","interface":"net1"}]');
  await untilRunning(lab, "ADD", "delta");
  await lab.killHand();
  await endPod(lab, call);
});

test("the daemon is killed while the hand attaches: the hand finishes its plugin first, and nothing is left of it", async () => {
  await using lab = await makePlugNode();
  const call = await runPod(lab);
  await lab.script("delta.ADD", "sleep 1");
  await annotate(lab, "second,third");
  await untilRunning(lab, "ADD", "delta");
  await lab.killDaemon();
  await annotate(lab, "second");
  await lab.startDaemon();
  await lab.until("what was attached is removed", async () => (await story(lab, "DEL"))[0]);
  await untilSettled(lab, ["second net1"]);
  const [added, removed] = await lab.calls();
  expect([added?.ended, removed?.plugin]).toEqual([true, "delta"]);
  await endPod(lab, call);
});
