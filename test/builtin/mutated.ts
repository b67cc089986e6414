import { expect } from "bun:test";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { distributionPlugins } from "../lab/lab.ts";
import { trials, type Random } from "../hostile/random.ts";
import { mutateJson, mutateText } from "../hostile/mutate.ts";
import type { Case, Step, Upstream } from "./case.ts";
import { uplinks } from "./link-cases.ts";
import { builtInPlugins } from "./plugins.ts";
import { isUnsupported, World, type Answer, type Asked } from "./world.ts";

const upstream: Upstream = { version: "1.9.1", folder: distributionPlugins };
const makers = builtInPlugins.map(([, make]) => make);
/** What is there before: links to make others on, and one to tune. */
const before = [...uplinks, "box ip link add tun0 type veth peer name tun1"];
const empty: Case = { seed: 0, plugin: "", conf: {}, args: "", before, steps: [] };
const known = new Set(["lo", "tun0", "tun1"]);
const lanes = 3;
/** Of so many, some are served and some are refused. */
const bothMin = 50;
/** About one in fifteen may not be tried. */
const drawsMax = 50;

/** The parts of a path decide where files are made, so a damaged one is not tried. */
function isHarmless(text: string, folder: string): boolean {
  const folders = text.match(/"dataDir":"[^"]*"/g) ?? [];
  const isOwn = (text: string): boolean => text.startsWith(`"dataDir":"${folder}/`) && !text.includes("..");
  return !/host-local|tuning/.test(text) || (folders.length === 1 && folders.every(isOwn));
}

/** One that may be tried. Another one is drawn in place of one that may not, so that every trial tries one. */
function damaged(random: Random, folder: string): Asked {
  for (let draw = 0; draw < drawsMax; draw += 1) {
    const { conf, plugin, args } = random.pick(makers)(random, upstream);
    const whole = JSON.stringify(conf).replaceAll("$FOLDER", folder);
    const stdin = random.below(2) === 0 ? mutateJson(random, JSON.parse(whole)) : mutateText(random, whole);
    if (isHarmless(stdin, folder)) return { plugin, args, stdin };
  }
  throw new Error(`LEVEE_SEED=${random.seed} LEVEE_TURNS=1 draws no harmless configuration`);
}

/** What a call left: interfaces of the container, and leases. */
async function leftIn(world: World): Promise<readonly string[]> {
  const files = readdirSync(world.folder, { recursive: true, encoding: "utf8" });
  const paths = files.map((file) => join(world.folder, file)).filter((path) => lstatSync(path).isFile());
  const leases = paths.filter((path) => path.endsWith(".json") || readFileSync(path, "latin1").startsWith("c1"));
  const links = await world.shell(`nsenter --net=/run/netns/${world.box} cat /proc/self/net/dev`);
  const names = links.split("\n").flatMap((line) => /^ *([^ ]+):/.exec(line)?.[1] ?? []);
  return [...leases, ...names.filter((name) => !known.has(name))];
}

function isProper(answer: Answer): boolean {
  return [0, 1].includes(answer.exit) || isUnsupported(answer);
}

/** Tries one text. Undefined if it was refused, else what is wrong. */
async function tryOne(world: World, asked: Asked): Promise<string | undefined> {
  const add: Step = { command: "ADD", id: "c1", ifname: asked.plugin === "tuning" ? "tun0" : "eth0" };
  const added = await world.callWith(add, "built-in", asked);
  if (isUnsupported(added)) return undefined;
  const deleted = await world.callWith({ ...add, command: "DEL" }, "built-in", asked);
  const left = await leftIn(world);
  // What made the ADD fail may make the DEL fail too: a link of the host that is not there, a name too long for a file.
  const isDeleted = deleted.exit === 0 || (added.exit === 1 && deleted.exit === 1);
  const isGood = isProper(added) && isDeleted && left.length === 0;
  return isGood
    ? ""
    : `${asked.plugin} ended with ${added.exit} and ${deleted.exit}, left ${left.join(", ")}: ${asked.stdin}`;
}

/** Configurations that something has damaged: no crash, no hang, and nothing left after a DEL with the same text. */
export async function expectMutatedEndProperly(turns: number): Promise<void> {
  const counts = { served: 0, refused: 0 };
  const faults: string[] = [];
  const all = [...trials(turns)];
  const rest = all.values();
  const lane = async (name: string): Promise<void> => {
    let world: World | undefined;
    for (const random of rest) {
      world ??= await World.make(name, upstream, empty);
      const asked = damaged(random, world.folder);
      const found = await tryOne(world, asked);
      counts[found === undefined ? "refused" : "served"] += 1;
      if (found !== undefined && found !== "") faults.push(`LEVEE_SEED=${random.seed} LEVEE_TURNS=1 ${found}`);
      // A call that was served may have made a bridge, which no plugin removes.
      if (found !== undefined) await world[Symbol.asyncDispose]();
      if (found !== undefined) world = undefined;
    }
    await world?.[Symbol.asyncDispose]();
  };
  await Promise.all(Array.from({ length: lanes }, (_, at) => lane(`lvm${process.pid}x${at}`)));
  expect(faults.join("\n\n")).toBe("");
  expect(counts.served + counts.refused).toBe(all.length);
  // One trial that is run again is either.
  if (all.length < bothMin) return;
  expect(counts.served).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
}
