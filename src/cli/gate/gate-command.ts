import type { Command } from "commander";
import { addClusterOptions, clusterExitText, type ClusterCommandOptions } from "../cluster/cluster-options.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import { addGateCheck } from "./check-command.ts";
import { addExcept } from "./except-command.ts";
import { createOverride, reasonsHash, requireReading } from "./allow.ts";
import { gatePlace, type GatePlace } from "./gate-place.ts";
import { gateTable } from "./gate-table.ts";
import { exceptionView, gateView, overrideView } from "./gate-view.ts";
import { parseFor, parseReason } from "./person-words.ts";
import { readExceptions, readGate, readGates } from "./read-gates.ts";
import { whyText } from "./why-text.ts";
import { requireSubdomain } from "../node/names.ts";
import type { Shell } from "../shell.ts";
import { print, type OutputFormat } from "../terminal/print.ts";

const formats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "name"];

export function addGate(program: Command, shell: Shell): void {
  const gate = program
    .command("gate")
    .description("Show why nodes may not be rebooted, make exceptions, and allow a reboot")
    .argument("[verb]", "list, why, except, allow or check")
    .addHelpText(
      "after",
      `${examples(
        "levee gate list",
        "levee gate why k8s-master",
        "levee gate except 'alertname=NodeFilesystemFull,mountpoint=/mnt/backup' --reason 'offsite' --until 14d",
        "levee gate allow k8s-master --for 30m --reason 'kernel update'",
      )}\n${clusterExitText}`,
    );
  addList(gate, shell);
  addWhy(gate, shell);
  addExcept(gate, shell);
  addAllow(gate, shell);
  addGateCheck(gate, shell);
  // An unknown verb brings a name and options. Last, because verbs that are added later would take over that leniency:
  // a second pair of labels must not be dropped.
  gate
    .allowExcessArguments()
    .allowUnknownOption()
    .action((verb: string | undefined) => {
      // Of unknown options the first takes the place of the verb.
      throw verb === undefined || verb.startsWith("-")
        ? usageFailure("Cannot run levee gate without a verb", "levee gate list")
        : usageFailure(
            `Cannot ${JSON.stringify(verb)} a gate: the verbs are ${gate.commands.map((one) => one.name()).join(", ")}`,
            "levee gate --help",
          );
    });
}

function addList(gate: Command, shell: Shell): void {
  const list = addClusterOptions(
    gate.command("list").alias("ls").description("List the nodes that wait for a reboot, with what blocks them"),
  ).addHelpText("after", `${examples("levee gate list", "levee gate list -o wide")}\n${clusterExitText}`);
  list.action(async (options: ClusterCommandOptions) => {
    const { settings } = contextOf(list, shell, formats);
    const gates = await withCluster(shell, options, (api) => readGates(gatePlace(api, shell, options)));
    const nowMs = shell.clock.wallMs();
    const views = gates.map((one) => gateView(one.node, one, nowMs));
    const table = (isWide: boolean): string =>
      views.length === 0 ? "No node waits for a reboot\n" : gateTable(views, nowMs, isWide);
    print(shell.stdout, settings.output, {
      value: views,
      text: () => table(false),
      wide: () => table(true),
      name: () => views.map(({ node }) => `rebootgate.levee.dev/${node}\n`).join(""),
    });
  });
}

function addWhy(gate: Command, shell: Shell): void {
  const why = addClusterOptions(
    gate
      .command("why")
      .argument("<node>", "name of the node")
      .description("Show every reason why a node may not be rebooted, and how to clear it"),
  ).addHelpText(
    "after",
    `${examples("levee gate why k8s-master", "levee gate why k8s-master -o json")}\n${clusterExitText}`,
  );
  why.action(async (given: string, options: ClusterCommandOptions) => {
    const { settings } = contextOf(why, shell);
    const node = nodeOf(given);
    const seen = await withCluster(shell, options, (api) => look(shell, gatePlace(api, shell, options), node));
    print(shell.stdout, settings.output, { value: seen.value, text: () => seen.text });
  });
}

interface AllowOptions extends ClusterCommandOptions {
  readonly for?: string;
  readonly reason?: string;
  readonly reasonsHash?: string;
}

function addAllow(gate: Command, shell: Shell): void {
  const allow = addClusterOptions(
    gate
      .command("allow")
      .argument("<node>", "name of the node")
      .description("Allow a reboot in spite of all reasons: shows them and asks you to type the node's name"),
  )
    .option("--for <time>", "how long your word counts, 4h at most")
    .option("--reason <text>", "why; it is shown wherever the gate is shown")
    .option("--reasons-hash <hash>", "hash of the reasons you read, instead of typing the name; others are refused")
    .addHelpText(
      "after",
      `${examples("levee gate allow k8s-master --for 30m --reason 'kernel update'")}\n${clusterExitText}`,
    );
  allow.action(async (given: string, options: AllowOptions) => {
    const { settings } = contextOf(allow, shell, formats);
    const node = nodeOf(given);
    const [forMs, reason] = [parseFor(options.for), parseReason(options.reason)];
    const isText = settings.output === "table" || settings.output === "wide";
    const made = await withCluster(shell, options, async (api) => {
      const place = gatePlace(api, shell, options);
      const seen = await look(shell, place, node);
      if (isText) shell.stdout.write(`${seen.text}\n`);
      await requireReading(shell, seen.gate, options.reasonsHash);
      return await createOverride(place, { node, reason, untilMs: shell.clock.wallMs() + forMs });
    });
    print(shell.stdout, settings.output, {
      value: overrideView(made),
      text: () =>
        `${made.by} allows a reboot of ${node} for ${options.for ?? ""}; the gate opens at the guard's next look\nTo withdraw it: kubectl -n ${made.namespace} delete decisionapproval ${made.name}\n`,
      name: () => `decisionapproval.levee.dev/${made.name}\n`,
    });
  });
}

async function look(
  shell: Shell,
  place: GatePlace,
  node: string,
): Promise<{ readonly gate: ReturnType<typeof gateView>; readonly value: object; readonly text: string }> {
  const [read, made] = [await readGate(place, node), await readExceptions(place)];
  const nowMs = shell.clock.wallMs();
  const gate = gateView(node, read, nowMs);
  const exceptions = made.map((one) => exceptionView(one, nowMs)).filter(({ isOver }) => !isOver);
  const value = { ...gate, reasonsHash: await reasonsHash(gate), exceptions };
  return { gate, value, text: whyText(gate, exceptions, { nowMs, namespace: place.namespace }) };
}

function nodeOf(given: string): string {
  const name = given.replace(/^(?:nodes?|rebootgates?(?:\.levee\.dev)?)\//u, "");
  return requireSubdomain("a node", name, "a name as kubectl get nodes shows it");
}
