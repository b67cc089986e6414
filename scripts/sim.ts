/**
 * `npm run sim`: plays random stories on a simulated node and in a simulated cluster, with the own code of daemon and guard
 * on a virtual clock, and checks after every step that nothing is lost, leaked, given out twice or done unasked.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../src/base/clock.ts";
import { installedPolicies } from "../src/guard/approve/policies.fixture.ts";
import { guardStories } from "../src/sim/guard/guard-stories.ts";
import { readKeptGuardStory } from "../src/sim/guard/read-kept-guard-story.ts";
import { nodeStories } from "../src/sim/story/node-stories.ts";
import { isKeptGuardStory, readKeptStory } from "../src/sim/story/read-kept-story.ts";
import type { StoryEnd } from "../src/sim/story/run-story.ts";
import { storyPlayer, type StoryPlayer } from "../src/sim/story/story-player.ts";
import { fleetCommand, fleetUsage } from "./fleet/fleet-command.ts";
import { interruptedExit, interruption } from "./fleet/interruption.ts";
import { brokenSeedText, keptStoryName, trySeeds, type BrokenSeed } from "../src/sim/story/try-seeds.ts";

const usage = `Usage: npm run sim [-- --seeds N] [--from N] [--seconds N] [--kind KIND] [--keep]
       npm run sim -- --seed N [--kind KIND] [--log]
       npm run sim -- --story FILE [--log]
       npm run sim -- fleet [--help]

Plays two stories per seed, with faults at random instants: one of a node, whose pods come and go, and one of a cluster,
whose guards are asked to help. Stops at the first story that breaks a rule, and prints the shortest one that does.

  --seeds N     how many seeds (500)
  --from N      the first of them (1)
  --seconds N   begin no new seed after this time
  --keep        write the shortest story that breaks a rule to test/sim/stories/, where it is a test
  --seed N      play one seed only
  --kind KIND   node or guard: stories of this kind only
  --story FILE  play the story in a file
  --log         print everything that happens in it

Ctrl-C ends with what is known so far, and 130.
`;

const root = join(import.meta.dirname, "..");
const everyMs = 2_000;
const interrupted = interruption();
const guards = guardStories(installedPolicies("2020-01-01T00:00:00Z"));
const players: readonly StoryPlayer[] = [storyPlayer(nodeStories), storyPlayer(guards)];

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const isFleet = args[0] === "fleet";
  if (args.includes("-h") || args.includes("--help")) {
    process.stdout.write(isFleet ? fleetUsage : usage);
    return 0;
  }
  if (isFleet) return await fleetCommand(args.slice(1), interrupted);
  const asked = read(args);
  if (typeof asked === "string") {
    process.stderr.write(`Error: ${asked}\n\n${usage}`);
    return 2;
  }
  if ("play" in asked) return tell(await asked.play(linesMaxOf(asked.isLogged)), asked.isLogged);
  if (!("seed" in asked)) return await playMany(asked);
  let exitCode = 0;
  for (const player of asked.players) {
    const { end } = await player.play(asked.seed, linesMaxOf(asked.isLogged));
    exitCode = Math.max(exitCode, tell(end, asked.isLogged));
    if (interrupted.aborted) return interruptedExit;
  }
  return exitCode;
}

function linesMaxOf(isLogged: boolean): number | undefined {
  return isLogged ? Number.POSITIVE_INFINITY : undefined;
}

type Play = (linesMax: number | undefined) => Promise<StoryEnd>;

/** Throws what is wrong with the story. */
function playKept(text: string): Play {
  if (isKeptGuardStory(text)) {
    const story = readKeptGuardStory(text);
    return (linesMax) => guards.run(story, linesMax);
  }
  const story = readKeptStory(text);
  return (linesMax) => nodeStories.run(story, linesMax);
}

function tell({ broken, hash, lines }: StoryEnd, isLogged: boolean): number {
  if (isLogged) process.stdout.write(`${lines.join("\n")}\n`);
  for (const { rule, text } of broken) console.log(`${rule}: ${text}`);
  console.log(`${broken.length === 0 ? "Every rule held" : "Rules were broken"}; ${hash}`);
  return broken.length === 0 ? 0 : 1;
}

async function playMany({ players: asked, isKept, ...range }: Many): Promise<number> {
  const beganMs = systemClock.monotonicMs();
  let saidMs = beganMs;
  const say = (text: string): void => {
    if (systemClock.monotonicMs() - saidMs < everyMs) return;
    saidMs = systemClock.monotonicMs();
    process.stderr.write(`${text}\n`);
  };
  const watch = {
    isInterrupted: () => interrupted.aborted,
    onTry: (tries: number, size: number) => say(`Looking for the shortest story: try ${tries}, with ${size} things`),
  };
  const { seeds, steps, simulatedMs, failure } = await trySeeds({ ...range, ...watch }, asked, systemClock, (done) =>
    say(`${done} of ${range.count} seeds`),
  );
  const seconds = (systemClock.monotonicMs() - beganMs) / 1_000;
  const hours = simulatedMs / 3_600_000;
  if (failure !== undefined) console.log(brokenSeedText(failure));
  if (failure !== undefined && isKept) console.log(`Kept as ${keep(failure)}`);
  if (interrupted.aborted) console.log("Interrupted; this is what was known by then");
  console.log(`${seeds} seeds, ${steps} steps, ${hours.toFixed(1)} simulated hours in ${seconds.toFixed(1)} s`);
  if (interrupted.aborted) return interruptedExit;
  return failure === undefined ? 0 : 1;
}

/** Writes the shortest story among the tests, and returns its path. */
function keep(failure: BrokenSeed): string {
  const place = join("test/sim/stories", keptStoryName(failure));
  mkdirSync(join(root, "test/sim/stories"), { recursive: true });
  writeFileSync(join(root, place), `${failure.story.text}\n`);
  return place;
}

interface Many {
  readonly players: readonly StoryPlayer[];
  readonly from: number;
  readonly count: number;
  readonly msMax: number;
  readonly isKept: boolean;
}

type Asked =
  | Many
  | { readonly play: Play; readonly isLogged: boolean }
  | { readonly seed: number; readonly players: readonly StoryPlayer[]; readonly isLogged: boolean };

/** What was asked for, or what is wrong with it. */
function read(args: readonly string[]): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string", default: "500" },
        from: { type: "string", default: "1" },
        seconds: { type: "string" },
        seed: { type: "string" },
        story: { type: "string" },
        kind: { type: "string" },
        keep: { type: "boolean", default: false },
        log: { type: "boolean", default: false },
      },
    });
    const isLogged = values.log;
    if (values.story !== undefined) return { play: playKept(readFileSync(values.story, "utf8")), isLogged };
    const kinds = playersOf(values.kind);
    if (values.seed !== undefined) return { seed: whole("--seed", values.seed), players: kinds, isLogged };
    const msMax = values.seconds === undefined ? Number.POSITIVE_INFINITY : 1_000 * whole("--seconds", values.seconds);
    const range = { from: whole("--from", values.from), count: whole("--seeds", values.seeds), msMax };
    return { players: kinds, ...range, isKept: values.keep };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function playersOf(kind: string | undefined): readonly StoryPlayer[] {
  const found = players.filter(({ name }) => kind === undefined || name === kind);
  if (found.length > 0) return found;
  throw new Error(`Cannot use --kind as it must be node or guard: current value is ${JSON.stringify(kind)}`);
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/u.test(text)) return Number(text);
  throw new Error(`Cannot use ${name} as it must be a whole number: current value is ${JSON.stringify(text)}`);
}
