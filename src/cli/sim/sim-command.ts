import type { Command } from "commander";
import type { MachineModel } from "../../sim/machine/machine-model.ts";
import { contextOf, examples, misspeltVerb } from "../command-line.ts";
import { usageFailure, type CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { addSimCalibrate } from "./calibrate-command.ts";
import { withoutOptionsAbove } from "../help-form.ts";
import type { KubeOptions } from "../cluster/kube-access.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import { forecastCluster } from "./from-cluster/forecast-command.ts";
import { readModel } from "./model-file.ts";
import { playSim } from "./play-sim.ts";
import { playReboots } from "./reboots/play-reboots.ts";
import { readScenario } from "./scenario/read-scenario.ts";
import { scenarioSchema } from "./scenario/scenario-schema.ts";
import { print } from "../terminal/print.ts";
import { parseCount } from "../storm/quantity.ts";
import {
  implementationNames,
  implementationOf,
  readSimPlan,
  simDefaults,
  simMax,
  spanMaxText,
  type SimWords,
} from "./sim-words.ts";

interface SimStormOptions extends SimWords {
  readonly report?: string;
}

const exitText =
  "Exit status: 0 it holds, 1 it does not hold, 2 wrong command line or file, 130 interrupted (what is known is printed).";

/** Options of `levee sim --from-cluster`, which mean nothing to a verb. */
const forClusters = ["--from-cluster", "--kubeconfig", "--context", "--metrics-port", "--max-pods"] as const;

interface SimOptions extends KubeOptions {
  readonly fromCluster?: true;
  readonly metricsPort: string;
  readonly maxPods: string;
  readonly model?: string;
}

export function addSim(program: Command, shell: Shell): void {
  const sim = program
    .command("sim")
    .description("Simulate a cluster: how many pods at once it holds, with Levee or Multus")
    .argument("[verb]", "storm, run, schema or calibrate")
    .option("--from-cluster", "read the cluster, and say where each of its nodes breaks; changes nothing")
    .option("--kubeconfig <file>", "kubeconfig file, as for kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context in the kubeconfig")
    .option("--metrics-port <port>", "the daemons' metricsPort", metricsPortDefault)
    .option("--max-pods <number>", "the most pods to try on one node", "1000")
    .option("--model <file>", "what things cost, from levee sim calibrate (default: measured on two cores)")
    .addHelpText(
      "after",
      `${examples(
        "levee sim storm --nodes 3 --pods 219 --limit 50Mi --impl multus-4.2.2",
        "levee sim run examples/sim/rack-comes-back.yaml",
        "levee sim --from-cluster",
      )}\n${exitText}`,
    );
  sim.hook("preSubcommand", (_, verb) => {
    if (sim.opts<SimOptions>().fromCluster !== true) return;
    throw usageFailure(`Cannot use --from-cluster with levee sim ${verb.name()}`, "levee sim --from-cluster");
  });
  addSimStorm(sim, shell);
  addSimRun(sim, shell);
  addSimSchema(sim, shell);
  addSimCalibrate(sim, shell);
  for (const verb of sim.commands) withoutOptionsAbove(verb, forClusters);
  sim.allowExcessArguments().action(async (verb: string | undefined, options: SimOptions) => {
    if (verb !== undefined) throw misspeltVerb(sim, verb) ?? unknownVerb(sim, verb);
    if (options.fromCluster !== true)
      throw usageFailure("Cannot run levee sim without a verb", "levee sim storm, or levee sim --from-cluster");
    await forecastCluster(contextOf(sim, shell), {
      ...options,
      metricsPort: metricsPortOf(options.metricsPort, metricsPortDefault),
      podsMax: parseCount("--max-pods", options.maxPods, { min: 1, max: simMax.pods, example: 1_000 }),
      model: await readModel(options.model),
    });
  });
}

function unknownVerb(sim: Command, verb: string): CommandFailure {
  const known = sim.commands.map((one) => one.name()).join(", ");
  return usageFailure(`Cannot ${JSON.stringify(verb)} in a simulation: the verbs are ${known}`, "levee sim --help");
}

/** The option stands on the command above, which takes it from any place. */
function modelFor(sim: Command): Promise<MachineModel> {
  return readModel(sim.opts<Pick<SimOptions, "model">>().model);
}

/** Options of every simulation. */
function addPlayOptions(command: Command): Command {
  return command.option("--report <file>", "write a self-contained HTML page with plots");
}

function addSimStorm(sim: Command, shell: Shell): void {
  const storm = addPlayOptions(
    sim
      .command("storm")
      .description("Simulate pods that start at once on some nodes")
      .option(
        "--nodes <number>",
        `number of nodes, at most ${simMax.nodes}; the pods are spread evenly`,
        simDefaults.nodes,
      )
      .option("--pods <number>", `number of pods in the whole cluster, at most ${simMax.pods}`, simDefaults.pods)
      .option("--limit <size>", "memory limit of each daemon, at least 1Mi", simDefaults.limit)
      .option("--cpu <share>", "CPU limit of each daemon, such as 100m (default: no limit)")
      .option("--impl <name>", `what attaches the pods: ${implementationNames.join(", ")}`, simDefaults.impl)
      .option("--connection-limit <number>", "connectionLimit of Multus 4.3.0 (default: none, as in its manifest)")
      .option(
        "--critical <number>",
        "number of critical pods in the whole cluster, besides --pods",
        simDefaults.critical,
      )
      .option("--critical-after <time>", "when they start, after the others", simDefaults.criticalAfter)
      .option("--critical-within <time>", "how long each of them may wait to be attached", simDefaults.criticalWithin)
      .option("--timeout <time>", "how long each of the other pods may wait", simDefaults.timeout)
      .option("--seed <number>", `seed of everything that is left to chance, at most ${simMax.seed}`, simDefaults.seed),
  ).addHelpText(
    "after",
    [
      "\nA <size> is a number of bytes, or one with Ki, Mi or Gi; a <share> a number of cores, or thousandths of one with m;",
      `a <time> a number with ms, s, m or h, at most ${spanMaxText}. -o table, or json and yaml, which have every pod.`,
      "",
      "Levee's own code runs on a virtual clock; Multus, plugins, cores and memory are models. docs/sim.md says what is",
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
    const plan = readSimPlan(options, await modelFor(sim));
    await playSim(contextOf(storm, shell), plan, options.report);
  });
}

interface SimRunOptions {
  readonly impl?: string;
  readonly seed?: string;
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
      "levee sim run examples/sim/fleet-reboots.yaml",
    )}\n${exitText}`,
  );
  run.action(async (file: string, { impl, seed, report }: SimRunOptions) => {
    const words = {
      ...(impl === undefined ? {} : { impl: implementationOf(impl) }),
      ...(seed === undefined ? {} : { seed: parseCount("--seed", seed, { min: 1, max: simMax.seed, example: 1 }) }),
      model: await modelFor(sim),
    };
    const plan = await readScenario(file, words);
    const context = contextOf(run, shell);
    await ("storm" in plan ? playSim(context, plan.storm, report) : playReboots(context, plan.reboots, report));
  });
}

function addSimSchema(sim: Command, shell: Shell): void {
  const schema = sim
    .command("schema")
    .description("Print the JSON schema of scenario files, for editors")
    .addHelpText(
      "after",
      `\nIt is printed as JSON, and as YAML with -o yaml.\n${examples(
        "levee sim schema > sim-scenario.schema.json",
        "levee sim schema -o yaml",
      )}`,
    );
  schema.action(() => {
    const { output } = contextOf(schema, shell, ["table", "json", "yaml"]).settings;
    const value = scenarioSchema();
    // Editors want a file of JSON, so that is also what is printed where nothing is asked for.
    print(shell.stdout, output, { value, text: () => `${JSON.stringify(value, undefined, 2)}\n` });
  });
}
