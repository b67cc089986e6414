import type { Clock } from "../base/clock.ts";
import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { FollowableApi } from "../kube/client/api.ts";
import { isPassing } from "./act/running-decision.ts";
import { stepRunners } from "./act/step-runners.ts";
import type { GuardSettings } from "./facts/guard-settings.ts";
import type { ApplicationSource, World } from "./facts/world.ts";
import type { MemoryQuestion } from "./facts/memory-past.ts";
import { argoOwners } from "./decide/argo-owners.ts";
import { memoryQuestions } from "./decide/lower/memory-questions.ts";
import { GitMirrors } from "./git/git-mirrors.ts";
import { GitSource } from "./git/git-source.ts";
import { LockRunner } from "./git/lock-runner.ts";
import { GateKeeper } from "./gate/gate-keeper.ts";
import { GateObjects } from "./gate/gate-objects.ts";
import type { GateSettings } from "./gate/gate-settings.ts";
import { Election } from "./lead/election.ts";
import type { Term } from "./lead/term.ts";
import type { TextGetter } from "./observe/get-text.ts";
import type { Alertmanager } from "./observe/ask-alertmanager.ts";
import { serveMetrics, type GateParts } from "./serve-metrics.ts";
import { ClusterFacts } from "./observe/cluster-facts.ts";
import type { OtherSources } from "./observe/other-sources.ts";
import { ReadinessKeeper } from "./readiness/readiness-keeper.ts";
import { BudgetLook } from "./reconcile/budget-look.ts";
import { CalmKeeper } from "./reconcile/calm-keeper.ts";
import { Executor, lanes } from "./reconcile/executor.ts";
import { LiveSources } from "./observe/live-sources.ts";
import { guardRound } from "./reconcile/guard-round.ts";
import { AddressKeeper } from "./networks/address-keeper.ts";
import { NetworkKeeper } from "./networks/network-keeper.ts";

/** An avalanche is proposed within a minute of its twentieth member; this leaves time for a slow API server. */
const roundMs = 10_000;
const leaseName = "levee-guard";
const syncLookMs = 200;
/** A plan made before git was read has no lock, and would change as soon as a person reads it. The guard waits this long. */
const gitLookMsMax = 15_000;

interface GuardOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  /** Unique to this process. */
  readonly identity: string;
  readonly sources?: Partial<OtherSources>;
  /** The repositories that the guard may read and write. */
  readonly git?: GitMirrors;
  /** Absent: no Alertmanager is asked. */
  readonly alertmanagers?: readonly Alertmanager[];
  /** The metrics port of the nodes' daemons. Absent: no daemon is asked. */
  readonly daemonPort?: number;
  /** The port for Prometheus, leading or not. Absent: none. */
  readonly metricsPort?: number;
  /** The reboot gate. Absent: none. */
  readonly gate?: GateSettings;
  /** How Alertmanager, Prometheus and the daemons are asked; over the network unless given. */
  readonly getText?: TextGetter;
}

/**
 * Runs a guard until the signal is aborted. It follows the cluster from the start, so that a new leader already knows it,
 * and acts only while it leads. Rejects when it loses the lead or a write is refused: the process must then end, and the
 * next one starts clean.
 */
export async function runGuard(options: GuardOptions, signal: AbortSignal): Promise<void> {
  const { logger, settings, identity } = options;
  const limits = new BudgetLook(options);
  const calm = new CalmKeeper(options);
  const mirrors = options.git ?? noRepositories(options);
  const git = new GitSource({ ...options, mirrors, wanted: () => cniSources(facts.world(), settings) });
  const questions = (): readonly MemoryQuestion[] => memoryQuestions(facts.world(), settings);
  const live = new LiveSources({ ...options, facts: () => facts, memoryQuestions: questions });
  const notes = (): readonly string[] => [...limits.notes, ...live.notes()];
  const gates = gateObjects(options);
  const rebootGates = (): World["rebootGates"] => (gates === undefined ? [] : gates.known());
  const memoryCalms = (): CalmKeeper["calms"] => calm.calms;
  const sources = { ...live.sources(), ...gitFacts(git), notes, rebootGates, memoryCalms, ...options.sources };
  const facts = new ClusterFacts({ ...options, sources });
  const gate = gateOf(options, facts, gates);
  let held: Term | undefined;
  const isLeader = (): boolean => held?.isHeld() === true;
  const networks = new NetworkKeeper({ ...options, facts, isLeader });
  const addresses = addressKeeper(options, { facts, networks, isLeader });
  const readiness = new ReadinessKeeper({ ...options, facts, isLeader });
  const parts = [git, live, networks, addresses, readiness];
  for (const part of parts) part.start();
  let refusedProposals = 0;
  const onRefused = (): number => (refusedProposals += 1);
  const own = (): { isLeader: boolean; refusedProposals: number } => ({ isLeader: isLeader(), refusedProposals });
  using _port = serveMetrics(options, { facts, gate, networks, addresses }, own);
  try {
    const fenceSeen = (stop: AbortSignal): Promise<number> => highestFence(options, { facts, gate }, stop);
    const { namespace } = settings;
    const term = await new Election({ ...options, namespace, name: leaseName, fenceSeen }).lead(signal);
    held = term;
    logger.info("This guard leads", { identity, fence: term.fence });
    await untilGitIsRead(options, git, AbortSignal.any([signal, term.lost]));
    await leadUntil({ ...options, facts, keeper: gate?.keeper, limits, calm, term, git: mirrors, onRefused }, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  } finally {
    await Promise.all(parts.map((part) => part.close()));
    await Promise.all([facts.close(), gate?.objects.close()]);
  }
}

function addressKeeper(
  options: GuardOptions,
  { facts, networks, isLeader }: { facts: ClusterFacts; networks: NetworkKeeper; isLeader: () => boolean },
): AddressKeeper {
  const nodes = (): World["nodes"] => facts.world().nodes;
  return new AddressKeeper({ ...options, networks: () => networks.networks, nodes, isLeader });
}

function gateObjects({ gate, settings, ...options }: GuardOptions): GateObjects | undefined {
  return gate === undefined ? undefined : new GateObjects({ ...options, namespace: settings.namespace });
}

function gateOf(options: GuardOptions, facts: ClusterFacts, objects: GateObjects | undefined): GateParts | undefined {
  const { gate } = options;
  if (gate === undefined || objects === undefined) return undefined;
  return { settings: gate, objects, keeper: new GateKeeper({ ...options, gate, facts, objects }) };
}

function gitFacts(git: GitSource): Pick<OtherSources, "gitFiles" | "gitProblems"> {
  return { gitFiles: () => git.files(), gitProblems: () => git.problems() };
}

function noRepositories({ clock }: GuardOptions): GitMirrors {
  return new GitMirrors({ clock, repositories: [], folder: "/nonexistent" });
}

async function highestFence(
  { clock }: GuardOptions,
  { facts, gate }: { readonly facts: ClusterFacts; readonly gate: GateParts | undefined },
  signal: AbortSignal,
): Promise<number> {
  while (!facts.synced()) await clock.sleep(syncLookMs, signal);
  return Math.max(gate?.objects.fence() ?? 0, ...facts.decisions().map(({ status }) => status?.fence ?? 0));
}

async function untilGitIsRead({ clock }: GuardOptions, git: GitSource, signal: AbortSignal): Promise<void> {
  const endMs = clock.monotonicMs() + gitLookMsMax;
  while (!git.hasLooked() && clock.monotonicMs() < endMs) await clock.sleep(syncLookMs, signal);
}

interface Leading extends GuardOptions {
  readonly facts: ClusterFacts;
  readonly keeper: GateKeeper | undefined;
  readonly limits: BudgetLook;
  readonly calm: CalmKeeper;
  readonly term: Term;
  readonly git: GitMirrors;
  readonly onRefused: () => void;
}

async function leadUntil(leading: Leading, signal: AbortSignal): Promise<void> {
  const { clock, term } = leading;
  const over = new AbortController();
  const any = AbortSignal.any([signal, term.lost, over.signal]);
  const executors = executorsOf(leading, any);
  const executing = Promise.all(executors.map((one) => one.run().catch((thrown: unknown) => over.abort(thrown))));
  try {
    while (term.isHeld() && !any.aborted) {
      await leading.limits.refresh(leading.facts);
      await leading.calm.look(leading.facts, term);
      await oneRound(leading, executors);
      await leading.keeper?.look(term);
      await clock.sleep(roundMs, any);
    }
    any.throwIfAborted();
  } finally {
    // Stop all work before another guard may lead.
    over.abort(new LeveeError("cancelled", "Cannot go on: this guard no longer leads"));
    await executing;
    // A Lease that cannot be released expires by itself.
    await term.release().catch(() => undefined);
  }
}

function executorsOf(leading: Leading, signal: AbortSignal): readonly Executor[] {
  const { facts } = leading;
  const options = {
    ...leading,
    runners: { ...stepRunners, LockToGit: new LockRunner(leading.git) },
    signal,
    taken: new Set<string>(),
    world: () => facts.world(),
    isCurrent: () => facts.isCurrent(),
    decisions: () => facts.decisions(),
  };
  return lanes.map((lane) => new Executor({ ...options, ...lane }));
}

/** Passing errors wait for the next round; a refusal is thrown. */
async function oneRound(leading: Leading, executors: readonly Executor[]): Promise<void> {
  const { logger, facts } = leading;
  try {
    const isUnderWay = (name: string): boolean => executors.some(({ underWay }) => underWay === name);
    const { outcome } = await guardRound({ ...leading, source: facts, isUnderWay });
    if (outcome === "blind") logger.warn("Cannot follow the cluster; deciding nothing", { resources: blindTo(facts) });
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    logger.warn("Cannot finish a round; trying again", { error: toLeveeError(thrown, "Cannot write").message });
  }
}

function blindTo(facts: ClusterFacts): string {
  return facts
    .health()
    .filter(({ isSynced, lastError, isAbsent }) => !isAbsent && (!isSynced || lastError !== undefined))
    .map(({ resource }) => resource)
    .join(" ");
}

/** The git sources of the Applications that own CNI daemons, if they are folders of plain manifests. */
function cniSources(world: World, { cniDaemons }: GuardSettings): readonly ApplicationSource[] {
  return world.daemonSets
    .filter(({ namespace, name }) => cniDaemons.some((one) => one.namespace === namespace && one.daemonSet === name))
    .flatMap((daemonSet) => argoOwners(daemonSet, world))
    .map(({ application }) => application.source)
    .filter(({ isPlain, repository }) => isPlain && repository !== "");
}
