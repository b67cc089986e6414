import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { Lab, ip, type CniCall, type CniOutcome } from "../lab/lab.ts";
import { addresses, ipamFolder } from "../lab/leftovers.ts";
import { attachments, expectSuccess, pause } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";
import { randomFrom, seed } from "./seed.ts";

const pods = 100;
const kills = 5;
const bridges = [`lv${seed % 99_999}a`, `lv${seed % 99_999}b`];

afterAll(() => {
  for (const bridge of bridges) spawnSync("ip", ["link", "delete", bridge]);
});

const builtIn = ["bridge", "host-local"];

test(`100 pods on two real bridges, the daemon killed ${kills} times while they are attached and ${kills} times while they are detached (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  await using lab = await makeNode(seed % 2 === 0 ? "off" : builtIn);
  await lab.startDaemon();
  await lab.startHand();
  const calls = Array.from({ length: pods }, (_, index) => ({
    containerId: `c${index}`,
    netns: lab.netns(`c${index}`),
    args: lab.podArgs("web"),
  }));

  const attaching = Promise.all(calls.map((call) => lab.cni("ADD", call)));
  await killRepeatedly(lab, random, attaching);
  const added = await attaching;
  added.forEach(expectSuccess);
  await expectConsistent(lab, calls, added);

  const detaching = Promise.all(calls.map((call) => lab.cni("DEL", call)));
  await killRepeatedly(lab, random, detaching);
  (await detaching).forEach(expectSuccess);
  await expectNothingLeft(lab, { bridges, netns: calls.map(({ netns }) => netns) });
});

test.each([
  ["programs", "off", 4_000],
  ["built-in plugins", builtIn, 1_000],
] as const)(
  `the shims of 60 pods on real bridges with %s killed at random moments of ADD and DEL, and the resident hand now and then (seed ${seed})`,
  async (_how, choice, withinMs) => {
    const random = randomFrom(seed);
    await using lab = await makeNode(choice);
    await lab.startDaemon();
    await lab.startHand();
    const calls = Array.from({ length: 60 }, (_, index) => ({
      containerId: `k${index}`,
      netns: lab.netns(`k${index}`),
      args: lab.podArgs("web"),
    }));
    const adding = Promise.all(calls.map((call) => orKilled(lab, "ADD", call, 20 + random() * withinMs)));
    await pause(700);
    await lab.killHand();
    await lab.startHand();
    const added = await adding;
    // The seed decides when; that some live and some die is what makes the rest a test.
    expect(added.filter((outcome) => outcome.exitCode === 0).length).toBeGreaterThan(0);
    expect(added.filter((outcome) => outcome.signal === "SIGKILL").length).toBeGreaterThan(0);
    // One that is killed after its result was taken, and before it has ended, is attached: the runtime's DEL is to come.
    const takenIds = new Set(
      calls
        .filter((_, index) => added[index]?.signal === "SIGKILL" && added[index].stdout !== "")
        .map(({ containerId }) => containerId),
    );
    const survivors = calls.filter((_, index) => added[index]?.exitCode === 0);
    const living = await lab.until("only the living are attached", async () => {
      const found = await attachments(lab);
      const ids = new Set(found.map(({ containerId }) => containerId));
      const isAsItShould =
        survivors.every(({ containerId }) => ids.has(containerId)) &&
        found.length === calls.filter(({ containerId }) => ids.has(containerId)).length &&
        found.every(
          ({ containerId, phase }) =>
            phase === "attached" &&
            (takenIds.has(containerId) || survivors.some((one) => one.containerId === containerId)),
        );
      return isAsItShould ? calls.filter(({ containerId }) => ids.has(containerId)) : undefined;
    });
    expect(new Set(await addresses(lab)).size).toBe(2 * living.length);
    for (const call of living) expect(addressesIn(call.netns)).toHaveLength(2);

    await Promise.all(calls.map((call) => orKilled(lab, "DEL", call, (random() * withinMs) / 3)));
    (await Promise.all(calls.map((call) => lab.cni("DEL", call)))).forEach(expectSuccess);
    await expectNothingLeft(lab, { bridges, netns: calls.map(({ netns }) => netns) });
  },
);

/** The outcome of a call whose shim is killed after a while, unless it has ended by then. */
async function orKilled(lab: Lab, verb: string, call: CniCall, afterMs: number): Promise<CniOutcome> {
  const shim = lab.start(verb, call);
  const timer = setTimeout(() => shim.process.kill("SIGKILL"), afterMs);
  const outcome = await shim.outcome;
  clearTimeout(timer);
  return outcome;
}

/** Two networks, both of bridge and host-local: as the distribution's programs, or as the shim has them built in. */
async function makeNode(builtinPlugins: "off" | readonly string[]): Promise<Lab> {
  const lab = await Lab.make();
  const bridge = (name: string, index: number): Record<string, unknown> => ({
    cniVersion: "1.0.0",
    name,
    type: "bridge",
    bridge: bridges[index],
    ipam: { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ subnet: `10.${80 + index}.0.0/22` }]] },
  });
  await lab.network("primary", bridge("primary", 0), "kube-system");
  await lab.network("second", bridge("second", 1));
  await lab.pod("web", { "k8s.v1.cni.cncf.io/networks": "second" });
  // The shims' own time is the runtime's; what is short here is only how soon recovery looks again.
  await lab.configure({ clusterNetwork: "primary", undoRetryMs: 200, logLevel: "verbose", builtinPlugins });
  return lab;
}

/** Kills and restarts the daemon at moments that the seed decides, until it has been done often enough or the work is over. */
async function killRepeatedly(lab: Lab, random: () => number, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  void work.then(() => (isOver = true));
  for (let kill = 0; kill < kills && !isOver; kill += 1) {
    await pause(50 + random() * 700);
    await lab.killDaemon();
    await pause(random() * 200);
    await lab.startDaemon();
  }
}

interface Result {
  readonly ips: readonly { readonly address: string }[];
}

/** Every address is given out once, stands in its namespace, and the journal and host-local know no more and no less. */
async function expectConsistent(
  lab: Lab,
  calls: readonly { readonly containerId: string; readonly netns: string }[],
  outcomes: readonly CniOutcome[],
): Promise<void> {
  const given = outcomes.map((outcome) => (JSON.parse(outcome.stdout) as Result).ips.map(({ address }) => address));
  expect(new Set(given.flat()).size).toBe(pods);
  const views = await attachments(lab);
  expect(views.map(({ phase }) => phase)).toEqual(views.map(() => "attached"));
  expect(views).toHaveLength(pods);
  for (const [index, call] of calls.entries()) {
    const inside = addressesIn(call.netns);
    expect([...inside].toSorted()).toEqual(
      views
        .find((view) => view.containerId === call.containerId)
        ?.networks.flatMap(({ ips }) => ips)
        .toSorted() ?? [],
    );
    expect(inside).toContain(given[index]?.[0] ?? "none");
  }
  expect(new Set(await addresses(lab)).size).toBe(2 * pods);
}

function addressesIn(netns: string): readonly string[] {
  const lines = ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "-o", "-4", "address", "show"]).split("\n");
  return lines.map((line) => /inet (\S+)/.exec(line)?.[1]).filter((address) => address !== undefined);
}
