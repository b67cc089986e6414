/**
 * The built-in plugins beside the upstream programs of v1.9.1 and of Debian, in generated cases: with
 * `npm run e2e -- --full builtin` as many as it takes for 200 of each that the built-in serves, and 10,000 damaged
 * configurations. A failure names its seed: `LEVEE_SEED=… LEVEE_TURNS=1 npm run e2e -- builtin` runs that
 * case alone.
 */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { TimelineAnswer } from "../../src/wire/node-view.ts";
import { compareBatch } from "../builtin/batch.ts";
import type { Case, Step, Upstream } from "../builtin/case.ts";
import { judge } from "../builtin/judge.ts";
import { expectMutatedEndProperly } from "../builtin/mutated.ts";
import { builtInPlugins, isPossible } from "../builtin/plugins.ts";
import { World } from "../builtin/world.ts";
import { distributionPlugins, Lab } from "../lab/lab.ts";
import { addresses, ipamFolder } from "../lab/leftovers.ts";
import { levee } from "../lab/levee.ts";
import { cniPlugins, releasedPlugins } from "../peers/cni-plugins.ts";
import { builtFolder } from "../peers/peer.ts";

const newest: Upstream = { version: "1.9.1", folder: builtFolder(await cniPlugins()) };
const debian: Upstream = { version: "1.1.1", folder: distributionPlugins };
const isFull = process.env["LEVEE_E2E_FULL"] === "1";
const turns = isFull ? 200 : 4;
const runMs = 1_200_000;

for (const upstream of [newest, debian])
  for (const [name, make] of builtInPlugins)
    test(
      `the built-in ${name} says and leaves the same as the program of ${upstream.version}`,
      async () => {
        judge(await compareBatch(upstream, make, turns), isPossible(name));
      },
      runMs,
    );

test(
  "damaged configurations end properly and leave nothing",
  () => expectMutatedEndProperly(isFull ? 10_000 : 100),
  2 * runMs,
);

test(
  "a bridge with 1,023 ports takes no other one: the program's own error in its own words",
  async () => {
    const pairs = Array.from({ length: 512 }, (_, at) => `link add p${at} master cni0 type veth peer name q${at}`);
    const ends = Array.from({ length: 511 }, (_, at) => `link set q${at} master cni0`);
    const batch = ["link add cni0 type bridge", ...pairs, ...ends].join("\\n");
    const conf = { cniVersion: "1.0.0", name: "net", type: "bridge" };
    const before = [`printf '${batch}\\n' > batch`, "host ip -batch batch"];
    const add: Step = { command: "ADD", id: "c1", ifname: "eth0" };
    const of: Case = { seed: 0, plugin: "bridge", conf, args: "", before, steps: [] };
    await using world = await World.make(`lvf${process.pid}`, newest, of);
    const words = async (server: "program" | "built-in"): Promise<string> => {
      const answer = await world.call(add, server);
      await world.call({ ...add, command: "DEL" }, server);
      return answer.stdout.replace(/veth[0-9a-f]{8}/, "veth#");
    };
    const said = await words("program");
    expect(JSON.parse(said)).toEqual({ code: 999, msg: 'failed to connect "veth#" to bridge cni0: exchange full' });
    expect(await words("built-in")).toBe(said);
  },
  runMs,
);

/** Which one served each ADD of two pods one after another, and what `levee check node` says of the plugins. */
async function servedByAuto(folder: string): Promise<{ readonly served: readonly string[]; readonly said: string }> {
  await using lab = await Lab.make();
  const ipam = { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ subnet: "10.94.0.0/24" }]] };
  const bridge = `lve${lab.id}`;
  await lab.network("lan", { cniVersion: "1.0.0", name: "lan", type: "bridge", bridge, ipam }, "kube-system");
  await lab.pod("web", {});
  for (const name of ["bridge", "host-local"]) await copyFile(join(folder, name), lab.path("bin", name));
  await lab.configure({ clusterNetwork: "lan", builtinPlugins: "auto" });
  await lab.startDaemon();
  try {
    for (const containerId of ["c1", "c2", "c3"]) {
      const call = { containerId, netns: lab.netns(containerId), args: lab.podArgs("web"), path: lab.path("bin") };
      for (const verb of ["ADD", "DEL"]) expect(await lab.cni(verb, call)).toMatchObject({ exitCode: 0 });
    }
    expect(await addresses(lab)).toEqual([]);
    const { entries } = await lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name: "web" });
    const served = entries.filter(({ what, verb }) => what === "ran" && verb === "ADD");
    const { out } = await levee(lab, "check", "node");
    return { served: served.map(({ builtIn }) => builtIn ?? "program"), said: out };
  } finally {
    spawnSync("ip", ["link", "delete", bridge]);
  }
}

test(
  "auto serves the programs of upstream's release v1.9.1, and not those that do not say which release they are",
  async () => {
    const released = await servedByAuto(builtFolder(await releasedPlugins()));
    // A program runs itself until it is known: bridge in the first call, host-local in the next.
    expect([released.served[0], released.served.at(-1)]).toEqual(["program", "1.9.1"]);
    expect(released.said).toContain("instead of upstream's programs: bridge 1.9.1, host-local 1.9.1");
    const unmarked = await servedByAuto(newest.folder);
    expect(unmarked.served).toEqual(["program", "program", "program"]);
    expect(unmarked.said).toContain("as programs, because they are not known upstream ones: bridge");
  },
  runMs,
);
