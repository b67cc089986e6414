import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import { isCausePresent } from "../decide/cause-present.ts";
import { nextStatus, type Leadership } from "../decide/next-status.ts";
import type { Proposal } from "../decide/causes/make-proposal.ts";
import { proposeLower } from "../decide/lower/propose-lower.ts";
import { propose } from "../decide/propose.ts";
import { decisionPhase, supersededBy } from "../decide/standing.ts";
import {
  decisionApiVersion,
  terminalPhases,
  type Decision,
  type DecisionApproval,
  type DecisionStatus,
} from "../decision/decision.ts";
import { parseDecision } from "../decision/parse-decision.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { decisionsPath, replacePlan } from "./replace-plan.ts";

const requestMs = 10_000;

/** The facts of a round; `ClusterFacts` has them. */
export interface RoundSource {
  /** Every resource is listed, and none has been unreachable for long. */
  isCurrent(): boolean;
  world(): World;
  approvals(): readonly DecisionApproval[];
  policies(): readonly PolicyObject[];
}

interface GuardRoundOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  readonly source: RoundSource;
  /** Checked before each write. */
  readonly term: Leadership & { isHeld(): boolean };
  /** Whether a Decision is being carried out: the executor then writes its status. */
  readonly isUnderWay?: (name: string) => boolean;
  /** Called for each proposal that the API server refuses. */
  readonly onRefused?: () => void;
}

/** The result of one round. */
export interface RoundResult {
  /** `blind`: the facts are too old to decide on. `not-leading`: another guard acts. */
  readonly outcome: "done" | "blind" | "not-leading";
  readonly created: readonly string[];
  /** Proposals whose plan was replaced. */
  readonly revised: readonly string[];
  readonly changed: readonly string[];
}

const nothing = { created: [], revised: [], changed: [] } as const;

/**
 * One round: creates new Decisions, replaces plans that nobody has approved, and updates the status of open ones. It
 * changes nothing else. A refused status write ends the round with its error and then the process, because this guard no
 * longer leads or is not the installed one.
 */
export async function guardRound(options: GuardRoundOptions): Promise<RoundResult> {
  const { source, settings, term } = options;
  if (!term.isHeld()) return { outcome: "not-leading", ...nothing };
  if (!source.isCurrent()) return { outcome: "blind", ...nothing };
  const world = source.world();
  // Ended Decisions never change, and there may be hundreds.
  const open = world.decisions.filter((decision) => !terminalPhases.has(decisionPhase(decision)));
  const proposals = [...propose(world, settings), ...proposeLower(world, settings)];
  const { created, revised } = await writeProposals(options, proposals, world.nowMs);
  const changed: string[] = [];
  for (const decision of open) {
    const { name } = decision.metadata;
    // The next round has the new plan.
    if (options.isUnderWay?.(name) === true || revised.includes(name)) continue;
    const status = nextStatus({
      decision,
      approvals: source.approvals(),
      policies: source.policies(),
      isCausePresent: isCausePresent(decision, world, settings),
      supersededBy: supersededBy(decision, world.decisions),
      nowMs: world.nowMs,
      leader: term,
    });
    if (status !== undefined && (await writeStatus(options, decision, status))) changed.push(name);
  }
  return { outcome: "done", created, revised, changed };
}

async function writeProposals(
  options: GuardRoundOptions,
  proposals: readonly Proposal[],
  nowMs: number,
): Promise<Pick<RoundResult, "created" | "revised">> {
  const created: string[] = [];
  const revised: string[] = [];
  for (const proposal of proposals) {
    const { name, replaces } = proposal;
    if (replaces === undefined) {
      if (await createDecision(options, proposal)) created.push(name);
    } else if (await replacePlan({ ...options, nowMs }, proposal, replaces)) revised.push(name);
  }
  return { created, revised };
}

/** False when it already exists: the watch has not delivered it yet, or an earlier leader created it. */
async function createDecision(
  { api, logger, settings, term, onRefused }: GuardRoundOptions,
  { name, spec }: Proposal,
): Promise<boolean> {
  if (!term.isHeld()) return false;
  const metadata = { name, namespace: settings.namespace };
  const body = JSON.stringify({ apiVersion: decisionApiVersion, kind: "Decision", metadata, spec });
  try {
    await api.call({
      method: "POST",
      path: decisionsPath(settings),
      body,
      accept: metadataOnly,
      deadlineMs: requestMs,
    });
    logger.info("Proposed a Decision", { name, planHash: spec.planHash });
    return true;
  } catch (thrown) {
    const error = kubeStatusOf(thrown) === 409 ? await nameProblem(api, settings, name) : reasonOf(thrown);
    if (error === undefined) return false;
    onRefused?.();
    // A failed proposal must not keep the round from the other Decisions.
    logger.error("Cannot propose a Decision", { name, error });
    return false;
  }
}

/** An unreadable object of this name would block the proposal unnoticed. */
async function nameProblem(api: KubeApi, settings: GuardSettings, name: string): Promise<string | undefined> {
  const path = `${decisionsPath(settings)}/${encodeURIComponent(name)}`;
  try {
    const there: unknown = JSON.parse(await api.call({ method: "GET", path, deadlineMs: requestMs }));
    if (parseDecision(there) !== undefined) return undefined;
  } catch (thrown) {
    return kubeStatusOf(thrown) === 404 ? undefined : reasonOf(thrown);
  }
  return `Cannot propose: this guard cannot have written the existing Decision of this name; look at it, then kubectl -n ${settings.namespace} delete decision ${name}`;
}

function reasonOf(thrown: unknown): string {
  return toLeveeError(thrown, "Cannot propose").message;
}

/** False when the Decision has changed since it was read: the next round tries again. */
async function writeStatus(
  { api, logger, settings, term }: GuardRoundOptions,
  { metadata }: Decision,
  status: DecisionStatus,
): Promise<boolean> {
  if (!term.isHeld()) return false;
  const { name, resourceVersion } = metadata;
  const body = JSON.stringify({ metadata: { resourceVersion }, status });
  const path = `${decisionsPath(settings)}/${encodeURIComponent(name)}/status`;
  const contentType = "application/merge-patch+json";
  try {
    await api.call({ method: "PATCH", path, body, contentType, accept: metadataOnly, deadlineMs: requestMs });
    logger.info("Changed a Decision's status", { name, phase: status.phase, why: status.message });
    return true;
  } catch (thrown) {
    if ([404, 409].includes(kubeStatusOf(thrown) ?? 0)) return false;
    throw thrown;
  }
}
