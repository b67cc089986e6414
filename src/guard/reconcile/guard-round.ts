import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import { isCausePresent } from "../decide/cause-present.ts";
import { nextStatus, type Leadership } from "../decide/next-status.ts";
import { propose, type Proposal } from "../decide/propose.ts";
import { decisionPhase } from "../decide/standing.ts";
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

const requestMs = 10_000;

/** What a round looks at; `ClusterFacts` is one. */
export interface RoundSource {
  /** Everything has been listed, and nothing has been out of reach for long. */
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
  /** Asked before each write. */
  readonly term: Leadership & { isHeld(): boolean };
  /** Whether a Decision is being carried out: whoever does that writes its status. */
  readonly isUnderWay?: (name: string) => boolean;
  /** Called for each proposal that the server does not take. */
  readonly onRefused?: () => void;
}

/** What came of one round. */
export interface RoundResult {
  /** `blind`: what is known is too old to decide on. `not-leading`: somebody else acts. */
  readonly outcome: "done" | "blind" | "not-leading";
  readonly created: readonly string[];
  readonly changed: readonly string[];
}

/**
 * One look at the cluster: new Decisions are created, and those that exist get the status they are to have. It changes
 * nothing else. A status that the server refuses ends the round with its error: the process then ends, as this leader is
 * not the leader any more or not the guard that was installed.
 */
export async function guardRound(options: GuardRoundOptions): Promise<RoundResult> {
  const { source, settings, term } = options;
  if (!term.isHeld()) return { outcome: "not-leading", created: [], changed: [] };
  if (!source.isCurrent()) return { outcome: "blind", created: [], changed: [] };
  const world = source.world();
  // What has ended never changes, and there may be hundreds of them.
  const open = world.decisions.filter((decision) => !terminalPhases.has(decisionPhase(decision)));
  const proposals = propose(world, settings);
  const created: string[] = [];
  for (const proposal of proposals) if (await createDecision(options, proposal)) created.push(proposal.name);
  const changed: string[] = [];
  for (const decision of open) {
    if (options.isUnderWay?.(decision.metadata.name) === true) continue;
    const status = nextStatus({
      decision,
      approvals: source.approvals(),
      policies: source.policies(),
      isCausePresent: isCausePresent(decision, world),
      nowMs: world.nowMs,
      leader: { identity: term.identity, fence: term.fence },
    });
    if (status !== undefined && (await writeStatus(options, decision, status))) changed.push(decision.metadata.name);
  }
  return { outcome: "done", created, changed };
}

/** False when it is there already: the watch has not brought it yet, or a leader before us made it. */
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
    logger.info("a Decision is proposed", { name, planHash: spec.planHash });
    return true;
  } catch (thrown) {
    const error = kubeStatusOf(thrown) === 409 ? await nameProblem(api, settings, name) : reasonOf(thrown);
    if (error === undefined) return false;
    onRefused?.();
    // A proposal that cannot be made must not keep the others from being looked after.
    logger.error("a Decision could not be proposed", { name, error });
    return false;
  }
}

/** What has the name and cannot be read would keep the proposal from being made, and nobody would know. */
async function nameProblem(api: KubeApi, settings: GuardSettings, name: string): Promise<string | undefined> {
  const path = `${decisionsPath(settings)}/${encodeURIComponent(name)}`;
  try {
    const there: unknown = JSON.parse(await api.call({ method: "GET", path, deadlineMs: requestMs }));
    if (parseDecision(there) !== undefined) return undefined;
  } catch (thrown) {
    return kubeStatusOf(thrown) === 404 ? undefined : reasonOf(thrown);
  }
  return `Cannot propose: a Decision with this name is there that this guard cannot have written; look at it, then kubectl -n ${settings.namespace} delete decision ${name}`;
}

function reasonOf(thrown: unknown): string {
  return toLeveeError(thrown, "Cannot propose").message;
}

/** False when it has changed since it was read: the next round looks again. */
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
    logger.info("a Decision has changed", { name, phase: status.phase, why: status.message });
    return true;
  } catch (thrown) {
    if ([404, 409].includes(kubeStatusOf(thrown) ?? 0)) return false;
    throw thrown;
  }
}

function decisionsPath({ namespace }: GuardSettings): string {
  return `/apis/${decisionApiVersion}/namespaces/${encodeURIComponent(namespace)}/decisions`;
}
