import { beforeAll, expect, test } from "bun:test";
import { builtFolder } from "../../peers/peer.ts";
import { whereabouts } from "../../peers/whereabouts.ts";
import { killOnceFar, runsOf } from "../beside/plugin-kill.ts";
import {
  heldAddresses,
  installWhereabouts,
  reservedAddresses,
  whereaboutsProgram,
} from "../beside/whereabouts-node.ts";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, network, podInterfaces } from "../networks.ts";
import { sandboxes } from "../node/containerd.ts";
import { say } from "../say.ts";
import { names, podsOn, theScene, type Scene } from "../the-levee.ts";
import { until } from "../until.ts";

const longMs = 600_000;
const twoHundred = names("where", 200);

beforeAll(async () => {
  const { cluster } = await theScene();
  await installWhereabouts(cluster, builtFolder(await whereabouts()));
  const ipam = { type: "whereabouts", range: "10.80.0.0/22" };
  await applyNetworks(cluster.api, network("where", { cniVersion: "1.0.0", type: "bridge", bridge: "where0", ipam }));
}, longMs);

test(
  "200 pods at once: each has an address of its own, DEL releases every one",
  async () => {
    const { cluster, levee } = await theScene();
    const beganMs = performance.now();
    await cluster.pods.run(podsOn(twoHundred, "where"), longMs);
    say(`200 pods are ready after ${seconds(beganMs)} s`);
    const real = twoHundred.map((pod) => podInterfaces(pod).find(({ ifname }) => ifname === "net1")?.addresses[0]);
    expect(new Set(real).size).toBe(200);
    const held = await heldAddresses(cluster.api);
    expect(held.map(({ pod, address }) => `${pod} ${address}`).toSorted()).toEqual(
      twoHundred.map((pod, index) => `default/${pod} ${real[index]}`).toSorted(),
    );
    expect((await reservedAddresses(cluster.api)).toSorted()).toEqual(real.map(String).toSorted());
    const some = [...twoHundred.slice(0, 3), ...twoHundred.slice(-3)];
    for (const pod of some) await untilTrueStatus(() => cluster.pods.get(pod), ["default/where"]);
    await expectTraffic(some, "net1");
    const deletedMs = performance.now();
    await cluster.pods.delete(twoHundred);
    await cluster.pods.untilGone(twoHundred, { timeoutMs: longMs });
    say(`200 pods are gone after ${seconds(deletedMs)} s`);
    await untilAllReleased(await theScene());
    await untilNothingIsLeft(levee);
  },
  2 * longMs,
);

test(
  "whereabouts is killed after it took an address: the pods start all the same, and no address is left",
  async () => {
    const { cluster } = await theScene();
    const pods = names("cut", 6);
    await cluster.pods.create(podsOn(pods, "where"));
    const killed = await killSome("ADD", 3, async (containerId) =>
      (await heldAddresses(cluster.api)).some((held) => held.containerId === containerId),
    );
    say(`whereabouts was killed ${killed.length} times with an address in the pool`);
    await cluster.pods.untilReady(pods, { timeoutMs: longMs });
    await untilOnlyLiving(await theScene(), pods);
    await cluster.pods.remove(pods);
    await untilAllReleased(await theScene());
  },
  longMs,
);

test(
  "whereabouts is killed in DEL: the address is released later",
  async () => {
    const { cluster, levee } = await theScene();
    const pods = names("undone", 6);
    await cluster.pods.run(podsOn(pods, "where"), longMs);
    await cluster.pods.delete(pods);
    const killed = await killSome("DEL", 3, () => Promise.resolve(true));
    say(`whereabouts was killed ${killed.length} times in DEL`);
    await cluster.pods.untilGone(pods, { timeoutMs: longMs });
    await untilAllReleased(await theScene());
    await untilNothingIsLeft(levee);
  },
  longMs,
);

test(
  "whereabouts and the daemon are killed at once, and the pods go meanwhile: nothing is left after the daemon's collection",
  async () => {
    const { cluster, levee } = await theScene();
    const pods = names("lost", 4);
    await cluster.pods.create(podsOn(pods, "where"));
    await killSome("ADD", 1, async (containerId) => {
      const isTaken = (await heldAddresses(cluster.api)).some((held) => held.containerId === containerId);
      if (isTaken) await levee.daemon.stop("SIGKILL");
      return isTaken;
    });
    say("whereabouts and the daemon were killed");
    await cluster.pods.delete(pods);
    levee.configure({ gcIntervalMs: 2_000, gcGraceMs: 500 });
    await levee.start();
    await cluster.pods.untilGone(pods, { timeoutMs: longMs });
    await untilAllReleased(await theScene());
    await untilNothingIsLeft(levee);
    levee.configure();
    await levee.restart();
  },
  longMs,
);

/** Kills runs of the plugin, each of another container, once they have come as far as asked. The containers' IDs. */
async function killSome(
  command: string,
  count: number,
  isFar: (containerId: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const tried = new Set<string>();
  const killed: string[] = [];
  await until(
    `whereabouts was killed ${count} times in ${command}`,
    async () => {
      const found = runsOf(whereaboutsProgram).find(
        (candidate) => candidate.command === command && !tried.has(candidate.containerId),
      );
      if (found === undefined) return undefined;
      tried.add(found.containerId);
      if (await killOnceFar(found, () => isFar(found.containerId))) killed.push(found.containerId);
      return killed.length >= count ? true : undefined;
    },
    { everyMs: 5, timeoutMs: 120_000 },
  );
  return killed;
}

/** Every address belongs to a sandbox that lives, one each. */
async function untilOnlyLiving({ cluster }: Scene, pods: readonly string[]): Promise<void> {
  await until("only living sandboxes hold addresses", async () => {
    const held = await heldAddresses(cluster.api);
    const living = new Set(sandboxes().map(({ id }) => id));
    expect(held.map(({ pod }) => pod).toSorted()).toEqual(pods.map((pod) => `default/${pod}`).toSorted());
    expect(held.filter(({ containerId }) => !living.has(containerId))).toEqual([]);
    return true;
  });
}

async function untilAllReleased({ cluster }: Scene): Promise<void> {
  await until(
    "whereabouts holds no address",
    async () => {
      const held = (await heldAddresses(cluster.api)).map(({ address, pod }) => `${address} of ${pod}`);
      const left = [...held, ...(await reservedAddresses(cluster.api))];
      if (left.length === 0) return true;
      throw new Error(`held are ${left.slice(0, 8).join(", ")} (${left.length})`);
    },
    { timeoutMs: 90_000, everyMs: 500 },
  );
}

function seconds(beganMs: number): string {
  return ((performance.now() - beganMs) / 1000).toFixed(0);
}
