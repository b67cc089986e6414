import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { Lab, ip, type CniCall, type CniOutcome } from "../lab/lab.ts";
import { ipamFolder } from "../lab/leftovers.ts";
import { attachments, expectSuccess, pause } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";
import { randomFrom, seed } from "./seed.ts";

/** LEVEE_CHAOS_MS=60000 for a long run. */
const lastsMs = Number(process.env["LEVEE_CHAOS_MS"] ?? 8_000);
const workers = 8;
const bridge = `lc${seed % 99_999}`;

afterAll(() => {
  spawnSync("ip", ["link", "delete", bridge]);
});

test(`everything is killed at random while pods come and go: an ADD fails only if its own shim was killed, what was attached stays, nothing leaks (seed ${seed})`, async () => {
  await using lab = await makeNode();
  await lab.startDaemon();
  await lab.startHand();
  const endsMs = performance.now() + lastsMs;
  const random = randomFrom(seed);
  const pods = Array.from({ length: workers }, (_, worker) =>
    liveAndDie({ lab, worker, endsMs, random: randomFrom(seed + 7 * worker + 1) }),
  );
  const troubles = trouble(lab, random, endsMs);
  const sandboxes = (await Promise.all(pods)).flat();
  await troubles;
  expect(sandboxes.length).toBeGreaterThan(workers);

  const kept = sandboxes.filter(({ isAttached }) => isAttached);
  const expected = kept.map(({ call }) => call.containerId).toSorted();
  const states = async (): Promise<readonly string[]> =>
    (await attachments(lab))
      .map(({ containerId, phase }) => (phase === "attached" ? containerId : `${containerId} ${phase}`))
      .toSorted();
  await lab
    .until("only what the runtime has is attached", async () =>
      (await states()).join() === expected.join() ? true : undefined,
    )
    .catch(() => undefined);
  expect(await states()).toEqual(expected);
  for (const { call } of kept) expect(interfacesIn(call.netns ?? "")).toEqual(["eth0", "lo"]);
  (await Promise.all(sandboxes.map(({ call }) => lab.cni("DEL", call)))).forEach(expectSuccess);
  await expectNothingLeft(lab, { bridges: [bridge], netns: sandboxes.map(({ call }) => call.netns ?? "") });
});

/** A default network of the distribution's own plugins, and one of a plugin that writes down what it was asked. */
async function makeNode(): Promise<Lab> {
  const lab = await Lab.make();
  await lab.plugin("gamma");
  const ipam = { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ subnet: "10.77.0.0/16" }]] };
  await lab.network("primary", { cniVersion: "1.0.0", name: "primary", type: "bridge", bridge, ipam }, "kube-system");
  await lab.network("second", { cniVersion: "1.0.0", name: "second", ...lab.conf("gamma") });
  for (let worker = 0; worker < workers; worker += 1)
    await lab.pod(`web${worker}`, { "k8s.v1.cni.cncf.io/networks": "second" });
  await lab.configure({ clusterNetwork: "primary", undoRetryMs: 200, logLevel: "verbose" });
  return lab;
}

interface Sandbox {
  readonly call: CniCall;
  readonly isAttached: boolean;
}

interface Life {
  readonly lab: Lab;
  readonly worker: number;
  readonly endsMs: number;
  readonly random: () => number;
}

/** One pod after another, as a runtime would: a new sandbox each time, DEL repeated until it succeeds. Some stay. */
async function liveAndDie({ lab, worker, endsMs, random }: Life): Promise<readonly Sandbox[]> {
  const sandboxes: Sandbox[] = [];
  for (let count = 0; performance.now() < endsMs; count += 1) {
    const containerId = `w${worker}n${count}`;
    const call = { containerId, netns: lab.netns(containerId), args: lab.podArgs(`web${worker}`) };
    const isDoomed = random() < 0.35;
    const outcome = await withLuck(lab, "ADD", call, isDoomed ? random() * 500 : Infinity);
    if (outcome.signal !== "SIGKILL") expectSuccess(outcome);
    const stays = outcome.exitCode === 0 && random() < 0.2;
    // A runtime that was killed itself never deletes; recovery does what is its to do.
    // But a shim that is killed after its result was taken has attached the pod, whatever the runtime thinks of it.
    const forgets = outcome.exitCode !== 0 && outcome.stdout === "" && random() < 0.3;
    if (!stays && !forgets) await deleteUntilDone(lab, call, random);
    sandboxes.push({ call, isAttached: stays });
  }
  return sandboxes;
}

async function deleteUntilDone(lab: Lab, call: CniCall, random: () => number): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const isDoomed = attempt < 2 && random() < 0.35;
    const outcome = await withLuck(lab, "DEL", call, isDoomed ? random() * 300 : Infinity);
    if (outcome.exitCode === 0) return;
    if (outcome.signal !== "SIGKILL") expectSuccess(outcome);
  }
}

async function withLuck(lab: Lab, verb: string, call: CniCall, killedAfterMs: number): Promise<CniOutcome> {
  const shim = lab.start(verb, call);
  const timer = killedAfterMs === Infinity ? undefined : setTimeout(() => shim.process.kill("SIGKILL"), killedAfterMs);
  const outcome = await shim.outcome;
  clearTimeout(timer);
  return outcome;
}

/** Kills and ends the daemon and the resident hand, now this one, now that one. */
async function trouble(lab: Lab, random: () => number, endsMs: number): Promise<void> {
  while (performance.now() < endsMs) {
    await pause(150 + random() * 700);
    if (random() < 0.4) {
      await lab.killHand(random() < 0.8 ? "SIGKILL" : "SIGTERM");
      await pause(random() * 300);
      await lab.startHand();
      continue;
    }
    await lab.killDaemon(random() < 0.8 ? "SIGKILL" : "SIGTERM");
    await pause(random() * 300);
    await lab.startDaemon();
  }
}

function interfacesIn(netns: string): readonly string[] {
  const lines = ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "-o", "link", "show"]).split("\n");
  return lines
    .map((line) => /^\d+: ([^@:]+)/.exec(line)?.[1])
    .filter((name) => name !== undefined)
    .toSorted();
}
