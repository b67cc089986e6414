import type { Command } from "commander";
import type { Verdict } from "../../guard/decision/decision.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import {
  addClusterOptions,
  addWaitOptions,
  clusterExitText,
  guardNamespaceOf,
  type ClusterCommandOptions,
} from "../cluster/cluster-options.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import { commandOf } from "../decisions/consent.ts";
import { readDecisions, type DecisionSource } from "../decisions/decision-source.ts";
import { decisionTable } from "../decisions/decision-table.ts";
import { giveVerdict, type VerdictOptions } from "../decisions/give-verdict.ts";
import { readWithApprovals, resourceName, showDecision } from "../decisions/show-decision.ts";
import { usageFailure } from "../failure.ts";
import { print, type OutputFormat } from "../terminal/print.ts";
import type { Shell } from "../shell.ts";

const formats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "name"];

export function addDecisions(program: Command, shell: Shell): void {
  const decisions = program
    .command("decisions")
    .alias("decision")
    .description("Show what the guard proposes, and approve or reject it")
    .argument("[verb]", "list, show, approve, reject, pause, resume or reset-breaker")
    .addHelpText(
      "after",
      `${examples(
        "levee decisions list",
        "levee decisions show recover-shop-1",
        "levee decisions approve stop-shop-1 --wait",
        "levee decisions approve stop-shop-1 --plan-hash sha256:…",
      )}\n${clusterExitText}`,
    );
  addList(decisions, shell);
  addShow(decisions, shell);
  for (const verb of verbs) addVerb(decisions, shell, verb);
  // An unknown verb still brings a name and options, which must not hide the real error. Last, because verbs that are
  // added later would take over that leniency: a second name must not be dropped.
  decisions
    .allowExcessArguments()
    .allowUnknownOption()
    .action((verb: string | undefined) => {
      throw verb === undefined
        ? usageFailure("Cannot run levee decisions without a verb", "levee decisions list")
        : usageFailure(
            `Cannot ${JSON.stringify(verb)} a Decision: the verbs are ${decisions.commands.map((one) => one.name()).join(", ")}`,
            "levee decisions --help",
          );
    });
}

function addList(decisions: Command, shell: Shell): void {
  const list = addClusterOptions(
    decisions.command("list").alias("ls").description("List Decisions: open ones first, then those that have ended"),
  ).addHelpText("after", `${examples("levee decisions list", "levee decisions list -o name")}\n${clusterExitText}`);
  list.action(async (options: ClusterCommandOptions) => {
    const { settings } = contextOf(list, shell, formats);
    const found = await withCluster(shell, options, (api) => readDecisions(sourceOf(api, shell, options)));
    const nowMs = shell.clock.wallMs();
    const table = (isWide: boolean): string =>
      found.decisions.length === 0
        ? `No Decisions in ${guardNamespaceOf(options)}\n`
        : decisionTable(found.decisions, nowMs, isWide);
    print(shell.stdout, settings.output, {
      value: { apiVersion: "v1", kind: "List", items: found.decisions },
      text: () => table(false),
      wide: () => table(true),
      name: () => found.decisions.map((decision) => `${resourceName(decision)}\n`).join(""),
    });
    if (found.unread.length > 0)
      shell.stderr.write(`Not shown, because a newer guard wrote them: ${found.unread.join(", ")}\n`);
  });
}

function addShow(decisions: Command, shell: Shell): void {
  const show = addClusterOptions(
    decisions
      .command("show")
      .argument("<name>", "name of the Decision")
      .description("Show a Decision: the evidence, each proposed step, what can go wrong, and its progress"),
  ).addHelpText(
    "after",
    `${examples("levee decisions show recover-shop-1", "levee decisions show recover-shop-1 -o yaml")}\n${clusterExitText}`,
  );
  show.action(async (name: string, options: ClusterCommandOptions) => {
    const context = contextOf(show, shell, formats);
    const shown = await withCluster(shell, options, (api) =>
      readWithApprovals(sourceOf(api, shell, options), name, shell),
    );
    showDecision(context, shown);
  });
}

interface Verb {
  readonly verdict: Verdict;
  readonly description: string;
}

const verbs: readonly Verb[] = [
  { verdict: "Approve", description: "Approve a plan: shows it and asks you to type its name" },
  { verdict: "Reject", description: "Reject it: it ends, and finished steps stay done" },
  { verdict: "Pause", description: "Pause it before its next write" },
  { verdict: "Resume", description: "Resume a paused Decision" },
  { verdict: "ResetBreaker", description: "Allow removals again after a daily limit was reached" },
];

function addVerb(decisions: Command, shell: Shell, { verdict, description }: Verb): void {
  const verb = commandOf(verdict);
  const command = addClusterOptions(
    decisions.command(verb).argument("<name>", "name of the Decision").description(description),
  )
    .option("--plan-hash <hash>", "hash of the plan you read, instead of typing the name; another plan is refused")
    .option("--reason <text>", "reason, for the record")
    .option("--yes", verdict === "Reject" ? "do not ask" : "accepted, but never replaces the confirmation")
    .addHelpText(
      "after",
      `${examples(`levee decisions ${verb} recover-shop-1`, `levee decisions ${verb} recover-shop-1 --plan-hash sha256:…`)}\n${clusterExitText}`,
    );
  // Resetting the breaker does not resume the Decision, so there is nothing to follow.
  if (verdict !== "ResetBreaker")
    addWaitOptions(command, "follow the Decision until it ends or waits for a person", "30m");
  command.action(async (name: string, options: VerdictOptions) => {
    const context = contextOf(command, shell, formats);
    await withCluster(shell, options, (api) =>
      giveVerdict(context, sourceOf(api, shell, options), { name, verdict, options }),
    );
  });
}

function sourceOf(api: KubeApi, { interrupted }: Shell, options: ClusterCommandOptions): DecisionSource {
  return { api, namespace: guardNamespaceOf(options), signal: interrupted };
}
