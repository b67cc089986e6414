import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { addSimCalibrate } from "./calibrate-command.ts";
import { readModel } from "./model-file.ts";
import { playSim } from "./play-sim.ts";
import { readScenario } from "./scenario/read-scenario.ts";
import { scenarioSchema } from "./scenario/scenario-schema.ts";
import { parseCount } from "../storm/quantity.ts";
import { implementationNames, implementationOf, readSimPlan, simDefaults, simMax, type SimWords } from "./sim-words.ts";

interface SimStormOptions extends SimWords {
  readonly model?: string;
  readonly report?: string;
}

const exitText =
  "Exit status: 0 it holds, 1 it does not hold, 2 wrong command line or file, 130 interrupted (what is known is printed).";

export function addSim(program: Command, shell: Shell): void {
  const sim = program
    .command("sim")
    .description("Simulate a cluster: how many pods at once it holds, with Levee or Multus")
    .argument("[verb]", "storm, run, schema or calibrate")
    .addHelpText(
      "after",
      `${examples("levee sim storm --nodes 3 --pods 219 --limit 50Mi --impl multus-4.2.2", "levee sim run examples/sim/rack-comes-back.yaml")}\n${exitText}`,
    );
  addSimStorm(sim, shell);
  addSimRun(sim, shell);
  addSimSchema(sim, shell);
  addSimCalibrate(sim, shell);
  sim
    .allowExcessArguments()
    .allowUnknownOption()
    .action((verb: string | undefined) => {
      throw verb === undefined || verb.startsWith("-")
        ? usageFailure("Cannot run levee sim without a verb", "levee sim storm")
        : usageFailure(
            `Cannot ${JSON.stringify(verb)} in a simulation: the verbs are ${sim.commands.map((one) => one.name()).join(", ")}`,
            "levee sim --help",
          );
    });
}

/** Options of every simulation. */
function addPlayOptions(command: Command): Command {
  return command
    .option("--model <file>", "what things cost, from levee sim calibrate (default: measured on two cores)")
    .option("--report <file>", "write a self-contained HTML page with plots");
}

function addSimStorm(sim: Command, shell: Shell): void {
  const storm = addPlayOptions(
    sim
      .command("storm")
      .description("Simulate pods that start at once on some nodes")
      .option("--nodes <number>", `number of nodes, at most ${simMax.nodes}`, simDefaults.nodes)
      .option("--pods <number>", `number of pods in the whole cluster, at most ${simMax.pods}`, simDefaults.pods)
      .option("--limit <size>", "memory limit of each daemon, as in a manifest", simDefaults.limit)
      .option("--cpu <share>", "CPU limit of each daemon, such as 100m (default: no limit)")
      .option("--impl <name>", `what attaches the pods: ${implementationNames.join(", ")}`, simDefaults.impl)
      .option("--connection-limit <number>", "connectionLimit of Multus 4.3.0 (default: none, as in its manifest)")
      .option("--critical <number>", "number of critical pods that start during the storm", simDefaults.critical)
      .option("--critical-after <time>", "when they start", simDefaults.criticalAfter)
      .option("--critical-within <time>", "how long each of them may wait", simDefaults.criticalWithin)
      .option("--timeout <time>", "pods that are not attached by then count as lost", simDefaults.timeout)
      .option("--seed <number>", "seed of everything that is left to chance", simDefaults.seed),
  ).addHelpText(
    "after",
    [
      "\nLevee's own code runs on a virtual clock; Multus, plugins, cores and memory are models. docs/sim.md says what is",
      "what, and how far to trust it. The same program, options and seed print the same bytes. Nothing is changed anywhere.",
      examples(
        "levee sim storm --nodes 3 --pods 219 --limit 50Mi",
        "levee sim storm --nodes 3 --pods 219 --limit 50Mi --impl multus-4.2.2 --report storm.html",
        "levee sim storm --nodes 1 --pods 219 --limit 256Mi --impl multus-4.3.0 --connection-limit 8 -o json",
      ),
      exitText,
    ].join("\n"),
  );
  storm.action(async (options: SimStormOptions) => {
    const plan = readSimPlan(options, await readModel(options.model));
    await playSim(contextOf(storm, shell), plan, options.report);
  });
}

interface SimRunOptions {
  readonly impl?: string;
  readonly seed?: string;
  readonly model?: string;
  readonly report?: string;
}

function addSimRun(sim: Command, shell: Shell): void {
  const run = addPlayOptions(
    sim
      .command("run")
      .description("Simulate what a scenario file says")
      .argument("<file>", "the scenario, as YAML; examples/sim/ has some")
      .option(
        "--impl <name>",
        `what attaches the pods, instead of what the file says: ${implementationNames.join(", ")}`,
      )
      .option("--seed <number>", "seed of chance, instead of what the file says"),
  ).addHelpText(
    "after",
    `${examples(
      "levee sim run examples/sim/seeds-outage.yaml",
      "levee sim run examples/sim/seeds-outage.yaml --impl multus-4.2.2 --report outage.html",
    )}\n${exitText}`,
  );
  run.action(async (file: string, { impl, seed, model, report }: SimRunOptions) => {
    const words = {
      ...(impl === undefined ? {} : { impl: implementationOf(impl) }),
      ...(seed === undefined ? {} : { seed: parseCount("--seed", seed, { min: 1, max: simMax.seed, example: 1 }) }),
      model: await readModel(model),
    };
    await playSim(contextOf(run, shell), readScenario(file, words), report);
  });
}

function addSimSchema(sim: Command, shell: Shell): void {
  const schema = sim
    .command("schema")
    .description("Print the JSON schema of scenario files, for editors")
    .addHelpText("after", examples("levee sim schema > sim-scenario.schema.json"));
  schema.action(() => {
    shell.stdout.write(`${JSON.stringify(scenarioSchema(), undefined, 2)}\n`);
  });
}
