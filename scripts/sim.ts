/**
 * `npm run sim`: plays random stories on a simulated node, with the daemon's own code on a virtual clock, and checks after
 * every step that nothing is lost, leaked or given out twice.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { systemClock } from "../src/base/clock.ts";
import { fleetCommand, fleetUsage } from "./fleet/fleet-command.ts";
import { readKeptStory } from "../src/sim/story/read-kept-story.ts";
import { runStory } from "../src/sim/story/run-story.ts";
import { storyOfSeed, type Story } from "../src/sim/story/story.ts";
import { brokenSeedText, trySeeds } from "../src/sim/story/try-seeds.ts";

const usage = `Usage: npm run sim [-- --seeds N] [--from N] [--seconds N]
       npm run sim -- --seed N [--log]
       npm run sim -- --story FILE [--log]
       npm run sim -- fleet [--help]

Plays one story per seed: pods that come and go, with faults at random instants. Stops at the first seed that breaks a
rule, and prints the shortest story that breaks it.

  --seeds N     how many seeds (500)
  --from N      the first of them (1)
  --seconds N   begin no new seed after this time
  --seed N      play one seed only
  --story FILE  play the story in a file
  --log         print everything that happens in it
`;

const everyMs = 2_000;

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const isFleet = args[0] === "fleet";
  if (args.includes("-h") || args.includes("--help")) {
    process.stdout.write(isFleet ? fleetUsage : usage);
    return 0;
  }
  if (isFleet) return await fleetCommand(args.slice(1));
  const asked = read(args);
  if (typeof asked === "string") {
    process.stderr.write(`Error: ${asked}\n\n${usage}`);
    return 2;
  }
  return "story" in asked ? await playOne(asked.story, asked.isLogged) : await playMany(asked);
}

async function playOne(story: Story, isLogged: boolean): Promise<number> {
  const { broken, hash, lines } = await runStory(story, isLogged ? Number.POSITIVE_INFINITY : undefined);
  if (isLogged) process.stdout.write(`${lines.join("\n")}\n`);
  for (const { rule, text } of broken) console.log(`${rule}: ${text}`);
  console.log(`${broken.length === 0 ? "Every rule held" : "Rules were broken"}; ${hash}`);
  return broken.length === 0 ? 0 : 1;
}

async function playMany({ from, count, msMax }: { from: number; count: number; msMax: number }): Promise<number> {
  const beganMs = systemClock.monotonicMs();
  let saidMs = beganMs;
  const { seeds, steps, simulatedMs, failure } = await trySeeds({ from, count, msMax }, systemClock, (done) => {
    if (systemClock.monotonicMs() - saidMs < everyMs) return;
    saidMs = systemClock.monotonicMs();
    process.stderr.write(`${done} of ${count} seeds\n`);
  });
  const seconds = (systemClock.monotonicMs() - beganMs) / 1_000;
  const hours = simulatedMs / 3_600_000;
  if (failure !== undefined) console.log(brokenSeedText(failure));
  console.log(`${seeds} seeds, ${steps} steps, ${hours.toFixed(1)} simulated hours in ${seconds.toFixed(1)} s`);
  return failure === undefined ? 0 : 1;
}

type Asked =
  | { readonly story: Story; readonly isLogged: boolean }
  | { readonly from: number; readonly count: number; readonly msMax: number };

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
        log: { type: "boolean", default: false },
      },
    });
    const isLogged = values.log;
    if (values.story !== undefined) return { story: readKeptStory(readFileSync(values.story, "utf8")), isLogged };
    if (values.seed !== undefined) return { story: storyOfSeed(whole("--seed", values.seed)), isLogged };
    const msMax = values.seconds === undefined ? Number.POSITIVE_INFINITY : 1_000 * whole("--seconds", values.seconds);
    return { from: whole("--from", values.from), count: whole("--seeds", values.seeds), msMax };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/u.test(text)) return Number(text);
  throw new Error(`Cannot use ${name} as it must be a whole number: current value is ${JSON.stringify(text)}`);
}
