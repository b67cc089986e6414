import type { Command } from "commander";
import { BudgetStore } from "../../guard/act/removal/budget-store.ts";
import { budgetNotes, defaultBudgetLimits } from "../../guard/act/removal/removal-budget.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import type { Decision, DecisionApproval, Verdict } from "../../guard/decision/decision.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import {
  addClusterOptions,
  addWaitOptions,
  clusterExitText,
  namespaceOf,
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
  sayWord,
  whoAmI,
  type DecisionSource,
} from "../decisions/decision-source.ts";
import { decisionTable } from "../decisions/decision-table.ts";
import { decisionText } from "../decisions/decision-text.ts";
import { follow, requireSuccess } from "../decisions/follow.ts";
import { usageFailure } from "../failure.ts";
import { paintFor } from "../terminal/paint.ts";
import { print, type OutputFormat } from "../terminal/print.ts";
import type { World } from "../world.ts";

const formats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "name"];

export function addDecisions(program: Command, world: World): void {
  const decisions = program
    .command("decisions")
    .alias("decision")
    .description("Show what the guard proposes, and say yes or no to it")
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
  // A verb that is not there comes with the name and the options it was meant to have.
  decisions
    .allowExcessArguments()
    .allowUnknownOption()
    .action((verb: string | undefined) => {
      throw verb === undefined
        ? usageFailure("Cannot tell what to do with Decisions", "levee decisions list")
        : usageFailure(
            `Cannot ${JSON.stringify(verb)} a Decision: the verbs are ${decisions.commands.map((one) => one.name()).join(", ")}`,
            "levee decisions --help",
          );
    });
  addList(decisions, world);
  addShow(decisions, world);
  for (const verb of verbs) addVerb(decisions, world, verb);
}

function addList(decisions: Command, world: World): void {
  const list = addClusterOptions(
    decisions.command("list").alias("ls").description("List Decisions, the one that has waited longest first"),
  ).addHelpText("after", `${examples("levee decisions list", "levee decisions list -o name")}\n${clusterExitText}`);
  list.action(async (options: ClusterCommandOptions) => {
    const { settings } = contextOf(list, world, formats);
    const found = await withCluster(world, options, (api) => readDecisions(sourceOf(api, world, options)));
    const nowMs = world.clock.wallMs();
    const table = (isWide: boolean): string =>
      found.decisions.length === 0
        ? `No Decisions in ${namespaceOf(options)}\n`
        : decisionTable(found.decisions, nowMs, isWide);
    print(world.stdout, settings.output, {
      value: { apiVersion: "v1", kind: "List", items: found.decisions },
      text: () => table(false),
      wide: () => table(true),
      name: () => found.decisions.map((decision) => `${resourceName(decision)}\n`).join(""),
    });
    if (found.unread.length > 0)
      world.stderr.write(`Not shown, as this program is older than they are: ${found.unread.join(", ")}\n`);
  });
}

function addShow(decisions: Command, world: World): void {
  const show = addClusterOptions(
    decisions
      .command("show")
      .argument("<name>", "of the Decision")
      .description("Show one: what was seen, what is proposed step by step, what can go wrong, how far it is"),
  ).addHelpText(
    "after",
    `${examples("levee decisions show recover-shop-1", "levee decisions show recover-shop-1 -o yaml")}\n${clusterExitText}`,
  );
  show.action(async (name: string, options: ClusterCommandOptions) => {
    const context = contextOf(show, world, formats);
    const shown = await withCluster(world, options, (api) => everythingOf(sourceOf(api, world, options), name, world));
    showDecision(context, shown);
  });
}

interface Verb {
  readonly verdict: Verdict;
  readonly description: string;
}

const verbs: readonly Verb[] = [
  { verdict: "Approve", description: "Approve a plan, after reading it and typing its name" },
  { verdict: "Reject", description: "Say no: it ends, and what was done stays" },
  { verdict: "Pause", description: "Stop it before its next write" },
  { verdict: "Resume", description: "Go on with what was paused" },
  { verdict: "ResetBreaker", description: "Allow removals again after a daily limit was reached" },
];

interface VerbOptions extends ClusterCommandOptions, WaitOptions, ConsentOptions {
  readonly reason?: string;
}

function addVerb(decisions: Command, world: World, { verdict, description }: Verb): void {
  const verb = commandOf(verdict);
  const command = addClusterOptions(
    decisions.command(verb).argument("<name>", "of the Decision").description(description),
  )
    .option("--plan-hash <hash>", "the plan that was read, instead of typing the name; another plan is refused")
    .option("--reason <text>", "why, for the record")
    .option("--yes", verdict === "Reject" ? "do not ask" : "taken, and never stands for the confirmation")
    .addHelpText(
      "after",
      `${examples(`levee decisions ${verb} recover-shop-1`, `levee decisions ${verb} recover-shop-1 --plan-hash sha256:…`)}\n${clusterExitText}`,
    );
  // After a breaker is reset a Decision stays as it is until somebody resumes it.
  if (verdict !== "ResetBreaker") addWaitOptions(command, "follow it until it has ended or waits for a person", "30m");
  command.action(async (name: string, options: VerbOptions) => {
    const context = contextOf(command, world, formats);
    await withCluster(world, options, (api) => say(context, sourceOf(api, world, options), { name, verdict, options }));
  });
}

interface Saying {
  readonly name: string;
  readonly verdict: Verdict;
  readonly options: VerbOptions;
}

/** Shows the plan, gets the person's consent to this very plan, and writes it down in their name. */
async function say(context: Context, source: DecisionSource, { name, verdict, options }: Saying): Promise<void> {
  const { world, settings } = context;
  const waitMs = waitMsOf(options);
  const shown = await everythingOf(source, name, world);
  const { decision } = shown;
  const isText = settings.output === "table" || settings.output === "wide";
  if (isText && verdict !== "Pause") showDecision(context, shown);
  requireOpen(decision, verdict);
  const { approval, text } = await wordOf(world, source, shown, { name, verdict, options });
  if (isText) world.stdout.write(`\n${text}`);
  const last = waitMs === 0 ? decision : await follow({ world, source, timeoutMs: waitMs }, decision);
  showOutcome(context, approval, last, waitMs > 0);
  if (waitMs > 0 && care[verdict] === "plan") requireSuccess(last);
}

interface GivenWord {
  readonly approval: DecisionApproval;
  readonly text: string;
}

async function wordOf(world: World, source: DecisionSource, shown: Everything, saying: Saying): Promise<GivenWord> {
  const { verdict, options } = saying;
  const standing = verdict === "Approve" ? standingApproval(shown) : undefined;
  if (standing === undefined || options.planHash !== undefined)
    await requireConsent(world, shown.decision, verdict, options);
  if (standing !== undefined) return { approval: standing, text: stoodText(standing) };
  const by = await whoAmI(source);
  const approval = await sayWord(source, shown.decision, { verdict, by, reason: options.reason });
  return { approval, text: saidText(approval) };
}

/** Who repeats an approval, after Ctrl-C perhaps, wants to see it through and not to say it twice. */
function standingApproval({ decision, approvals }: Everything): DecisionApproval | undefined {
  if (!["Approved", "Running"].includes(decisionPhase(decision))) return undefined;
  return approvals.find(({ metadata }) => metadata.name === decision.status?.approval?.name);
}

function stoodText({ metadata, spec }: DecisionApproval): string {
  return `${spec.by.username} approved ${spec.decision} already at ${metadata.creationTimestamp ?? ""}; nothing is said again\n`;
}

function showOutcome({ world, settings }: Context, approval: DecisionApproval, last: Decision, isEnd: boolean): void {
  print(world.stdout, settings.output, {
    value: { approval, decision: last },
    text: () => (isEnd ? `${last.metadata.name} is ${decisionPhase(last)}\n` : ""),
    name: () => `decisionapproval.levee.dev/${approval.metadata.name}\n`,
  });
}

function saidText({ metadata, spec }: DecisionApproval): string {
  const limit = spec.verdict === "Approve" ? "; it begins within 15 minutes or is void" : "";
  return `${spec.by.username} says ${spec.verdict} to ${spec.decision}${limit}\nTo take it back: kubectl -n ${metadata.namespace} delete decisionapproval ${metadata.name}\n`;
}

interface Everything {
  readonly decision: Decision;
  readonly approvals: readonly DecisionApproval[];
  readonly budget: readonly string[];
}

async function everythingOf(source: DecisionSource, name: string, world: World): Promise<Everything> {
  const decision = await readDecision(source, name);
  return {
    decision,
    approvals: await readApprovals(source, decision.metadata.name),
    budget: await budgetOf(source, world),
  };
}

/** An approver need not have the right to read the guard's ConfigMap; the proposal's own notes have the limits too. */
async function budgetOf({ api, namespace }: DecisionSource, { clock }: World): Promise<readonly string[]> {
  try {
    const { budget } = await new BudgetStore(api, namespace).read();
    return budgetNotes(budget, defaultBudgetLimits, clock.wallMs());
  } catch (thrown) {
    if (outOfReach(thrown) === undefined) throw thrown;
    return [];
  }
}

function showDecision({ world, settings }: Context, shown: Everything): void {
  const paint = paintFor(world.stdout, world.env);
  print(world.stdout, settings.output, {
    value: shown,
    text: () => decisionText({ ...shown, nowMs: world.clock.wallMs(), paint }),
    name: () => `${resourceName(shown.decision)}\n`,
  });
}

function sourceOf(api: KubeApi, { interrupted }: World, options: ClusterCommandOptions): DecisionSource {
  return { api, namespace: namespaceOf(options), signal: interrupted };
}

function resourceName({ metadata }: Decision): string {
  return `decision.levee.dev/${metadata.name}`;
}
