import type { Command } from "commander";
import { BudgetStore } from "../../guard/act/removal/budget-store.ts";
import { budgetNotes, defaultBudgetLimits } from "../../guard/act/removal/removal-budget.ts";
import { phaseOf } from "../../guard/decide/standing.ts";
import type { Decision, DecisionApproval, Verdict } from "../../guard/decision/decision.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import {
  addClusterOptions,
  addWaitOptions,
  clusterExitText,
  guardNamespaceOf,
  waitMsOf,
  type ClusterCommandOptions,
  type WaitOptions,
} from "../cluster/cluster-options.ts";
import { outOfReach, withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { care, commandOf, requireConsent, requireOpen, type ConsentOptions } from "../decisions/consent.ts";
import {
  readApprovals,
  readDecision,
  readDecisions,
  createApproval,
  whoAmI,
  type DecisionSource,
} from "../decisions/decision-source.ts";
import { decisionTable } from "../decisions/decision-table.ts";
import { decisionText } from "../decisions/decision-text.ts";
import { follow, requireSucceeded } from "../decisions/follow.ts";
import { usageFailure } from "../failure.ts";
import { paintFor } from "../terminal/paint.ts";
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
  // An unknown verb still brings a name and options, which must not hide the real error.
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
  addList(decisions, shell);
  addShow(decisions, shell);
  for (const verb of verbs) addVerb(decisions, shell, verb);
}

function addList(decisions: Command, shell: Shell): void {
  const list = addClusterOptions(
    decisions.command("list").alias("ls").description("List Decisions, oldest first"),
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
    const shown = await withCluster(shell, options, (api) => everythingOf(sourceOf(api, shell, options), name, shell));
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

interface VerbOptions extends ClusterCommandOptions, WaitOptions, ConsentOptions {
  readonly reason?: string;
}

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
  command.action(async (name: string, options: VerbOptions) => {
    const context = contextOf(command, shell, formats);
    await withCluster(shell, options, (api) =>
      giveVerdict(context, sourceOf(api, shell, options), { name, verdict, options }),
    );
  });
}

interface VerdictRequest {
  readonly name: string;
  readonly verdict: Verdict;
  readonly options: VerbOptions;
}

/** Shows the plan, asks for the person's consent to exactly this plan, and creates the approval in their name. */
async function giveVerdict(
  context: Context,
  source: DecisionSource,
  { name, verdict, options }: VerdictRequest,
): Promise<void> {
  const { shell, settings } = context;
  const waitMs = waitMsOf(options);
  const shown = await everythingOf(source, name, shell);
  const { decision } = shown;
  const isText = settings.output === "table" || settings.output === "wide";
  if (isText && verdict !== "Pause") showDecision(context, shown);
  requireOpen(decision, verdict);
  const { approval, text } = await approvalFor(shell, source, shown, { name, verdict, options });
  if (isText) shell.stdout.write(`\n${text}`);
  const last = waitMs === 0 ? decision : await follow({ shell, source, timeoutMs: waitMs }, decision);
  showOutcome(context, approval, last, waitMs > 0);
  if (waitMs > 0 && care[verdict] === "plan") requireSucceeded(last);
}

interface StandingApproval {
  readonly approval: DecisionApproval;
  readonly text: string;
}

async function approvalFor(
  shell: Shell,
  source: DecisionSource,
  shown: Everything,
  request: VerdictRequest,
): Promise<StandingApproval> {
  const { verdict, options } = request;
  const standing = verdict === "Approve" ? standingApproval(shown) : undefined;
  if (standing === undefined || options.planHash !== undefined)
    await requireConsent(shell, shown.decision, verdict, options);
  if (standing !== undefined) return { approval: standing, text: alreadyApprovedText(standing) };
  const by = await whoAmI(source);
  const approval = await createApproval(source, shown.decision, { verdict, by, reason: options.reason });
  return { approval, text: newApprovalText(approval) };
}

/** A repeated approval, after Ctrl-C perhaps, follows the one that stands and creates no second. */
function standingApproval({ decision, approvals }: Everything): DecisionApproval | undefined {
  if (!["Approved", "Running"].includes(phaseOf(decision))) return undefined;
  return approvals.find(({ metadata }) => metadata.name === decision.status?.approval?.name);
}

function alreadyApprovedText({ metadata, spec }: DecisionApproval): string {
  return `${spec.by.username} approved ${spec.decision} already at ${metadata.creationTimestamp ?? ""}; no second approval is created\n`;
}

function showOutcome({ shell, settings }: Context, approval: DecisionApproval, last: Decision, isEnd: boolean): void {
  print(shell.stdout, settings.output, {
    value: { approval, decision: last },
    text: () => (isEnd ? `${last.metadata.name} is ${phaseOf(last)}\n` : ""),
    name: () => `decisionapproval.levee.dev/${approval.metadata.name}\n`,
  });
}

function newApprovalText({ metadata, spec }: DecisionApproval): string {
  const limit = spec.verdict === "Approve" ? "; the approval is void unless the plan begins within 15 minutes" : "";
  return `${spec.by.username} gave the verdict ${spec.verdict} on ${spec.decision}${limit}\nTo withdraw it: kubectl -n ${metadata.namespace} delete decisionapproval ${metadata.name}\n`;
}

interface Everything {
  readonly decision: Decision;
  readonly approvals: readonly DecisionApproval[];
  readonly budget: readonly string[];
}

async function everythingOf(source: DecisionSource, name: string, shell: Shell): Promise<Everything> {
  const decision = await readDecision(source, name);
  return {
    decision,
    approvals: await readApprovals(source, decision.metadata.name),
    budget: await budgetOf(source, shell),
  };
}

/** An approver may lack the right to read the guard's ConfigMap; the proposal's notes have the limits too. */
async function budgetOf({ api, namespace }: DecisionSource, { clock }: Shell): Promise<readonly string[]> {
  try {
    const { budget } = await new BudgetStore(api, namespace).read();
    return budgetNotes(budget, defaultBudgetLimits, clock.wallMs());
  } catch (thrown) {
    if (outOfReach(thrown) === undefined) throw thrown;
    return [];
  }
}

function showDecision({ shell, settings }: Context, shown: Everything): void {
  const paint = paintFor(shell.stdout, shell.env);
  print(shell.stdout, settings.output, {
    value: shown,
    text: () => decisionText({ ...shown, nowMs: shell.clock.wallMs(), paint }),
    name: () => `${resourceName(shown.decision)}\n`,
  });
}

function sourceOf(api: KubeApi, { interrupted }: Shell, options: ClusterCommandOptions): DecisionSource {
  return { api, namespace: guardNamespaceOf(options), signal: interrupted };
}

function resourceName({ metadata }: Decision): string {
  return `decision.levee.dev/${metadata.name}`;
}
