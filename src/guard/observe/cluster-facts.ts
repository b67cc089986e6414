import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { FollowableApi } from "../../kube/client/api.ts";
import type { Named } from "../../kube/watch/object-store.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import type { ReflectorOptions } from "../../kube/watch/reflector-options.ts";
import { Reflector } from "../../kube/watch/reflector.ts";
import { ownerPolicies, policyProblems, type PolicyObject } from "../approve/policy-standing.ts";
import type { Decision, DecisionApproval } from "../decision/decision.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { Dependency } from "../facts/depended-on.ts";
import { sameClusterPod, type ClusterPod } from "../facts/cluster-pod.ts";
import { projectClusterPod } from "../facts/project-cluster-pod.ts";
import type { ServiceFacts, World } from "../facts/world.ts";
import { followDependencies, type Follow } from "./follow-dependencies.ts";
import { followOwners } from "./project-owners.ts";
import { keepApproval, keepDecision } from "./keep-decision.ts";
import { projectApplication, projectAppProject } from "./project-argo.ts";
import { followRemovals, projectEvent } from "./project-event.ts";
import type { OtherSources } from "./other-sources.ts";
import { policyPaths, projectPolicy } from "./project-policy.ts";
import {
  projectDaemonSet,
  projectDeployment,
  projectEndpointSlice,
  projectNamespace,
  projectNode,
  projectService,
  projectStatefulSet,
} from "./project-workloads.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

interface ClusterFactsOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  readonly sources: OtherSources;
}

/** A local copy of everything the guard needs from the API server, reduced to a few fields per object. */
export class ClusterFacts {
  readonly #options: ClusterFactsOptions;
  readonly #texts = new SharedTexts();
  readonly #all: Reflector<Named>[] = [];
  /** Nothing waits for these. */
  readonly #extra: Reflector<Named>[] = [];
  readonly #pods;
  readonly #nodes;
  readonly #namespaces;
  readonly #daemonSets;
  readonly #deployments;
  readonly #statefulSets;
  readonly #services;
  readonly #slices;
  readonly #events;
  readonly #removals;
  readonly #policies;
  readonly #bindings;
  readonly #decisions;
  readonly #approvals;
  /** Empty where Argo CD is not installed; the reflectors retry from time to time. */
  readonly #applications;
  readonly #projects;
  readonly #shownNeeds;
  readonly #owners;

  constructor(options: ClusterFactsOptions) {
    this.#options = options;
    const core = "/api/v1";
    const apps = "/apis/apps/v1";
    const argo = "/apis/argoproj.io/v1alpha1";
    this.#pods = this.#follow("pods", `${core}/pods`, (value) => projectClusterPod(value, this.#texts), {
      isSame: sameClusterPod,
    });
    this.#nodes = this.#follow("nodes", `${core}/nodes`, projectNode);
    this.#namespaces = this.#follow("namespaces", `${core}/namespaces`, projectNamespace);
    this.#daemonSets = this.#follow("daemonsets", `${apps}/daemonsets`, projectDaemonSet);
    this.#deployments = this.#follow("deployments", `${apps}/deployments`, projectDeployment);
    this.#statefulSets = this.#follow("statefulsets", `${apps}/statefulsets`, projectStatefulSet);
    this.#services = this.#follow("services", `${core}/services`, projectService);
    this.#slices = this.#follow("endpointslices", "/apis/discovery.k8s.io/v1/endpointslices", projectEndpointSlice);
    this.#events = this.#follow("events", `${core}/events`, (value) => projectEvent(value, this.#texts), {
      // The guard uses only these of an outage's many events.
      query: { fieldSelector: "reason=FailedCreatePodSandBox" },
      isCached: false,
    });
    this.#policies = this.#follow(
      "validatingadmissionpolicies",
      policyPaths.ValidatingAdmissionPolicy,
      projectPolicy("ValidatingAdmissionPolicy"),
    );
    this.#bindings = this.#follow(
      "validatingadmissionpolicybindings",
      policyPaths.ValidatingAdmissionPolicyBinding,
      projectPolicy("ValidatingAdmissionPolicyBinding"),
    );
    const ours = `/apis/levee.dev/v1alpha1/namespaces/${encodeURIComponent(options.settings.namespace)}`;
    this.#decisions = this.#follow("decisions", `${ours}/decisions`, keepDecision);
    this.#approvals = this.#follow("decisionapprovals", `${ours}/decisionapprovals`, keepApproval);
    this.#applications = this.#follow("applications", `${argo}/applications`, (value) =>
      projectApplication(value, options.settings.cniDaemons),
    );
    this.#projects = this.#follow("appprojects", `${argo}/appprojects`, projectAppProject);
    const extra: Follow = (resource, path, project, more) =>
      this.#follow(resource, path, project, { ...more, isExtra: true });
    this.#shownNeeds = followDependencies(extra);
    this.#owners = followOwners(extra);
    this.#removals = followRemovals(extra, this.#texts);
    for (const reflector of [...this.#all, ...this.#extra]) reflector.start();
  }

  /** Every first list is complete, except for absent definitions. Nothing is decided before. */
  synced(): boolean {
    return this.health().every(({ isSynced, isAbsent }) => isSynced || isAbsent);
  }

  /** Synced, and no resource has been unreachable for long. Otherwise nothing is decided. */
  isCurrent(): boolean {
    const nowMs = this.#options.clock.wallMs();
    const isFailing = ({ failingSinceMs, isAbsent }: ReflectorHealth): boolean =>
      !isAbsent && failingSinceMs !== undefined && nowMs - failingSinceMs > blindAfterMs;
    return this.synced() && !this.health().some(isFailing);
  }

  /** Only optional definitions can be absent: a missing definition of ours is a failure. */
  health(): readonly ReflectorHealth[] {
    const all = this.#all.map((reflector) => reflector.health());
    return all.map((one) => ({ ...one, isAbsent: one.isAbsent && mayBeAbsent.has(one.resource) }));
  }

  /** Everything as it is now. Pods are not copied, so use it at once. */
  world(): World {
    const { clock, settings, sources } = this.#options;
    const unread = sources.alertsUnread?.();
    const owners = this.#owners();
    return {
      nowMs: clock.wallMs(),
      ...(settings.stuckAfterMs === undefined ? {} : { stuckAfterMs: settings.stuckAfterMs }),
      pods: this.pods(),
      nodes: [...this.#nodes.store.values()],
      namespaces: [...this.#namespaces.store.values()],
      daemonSets: [...this.#daemonSets.store.values()],
      deployments: [...this.#deployments.store.values()],
      statefulSets: [...this.#statefulSets.store.values()],
      ...(owners === undefined ? {} : { owners }),
      services: this.#readyServices(),
      events: [...this.#events.store.values()],
      removalEvents: this.#removals(),
      applications: [...this.#applications.store.values()],
      projects: [...this.#projects.store.values()],
      alerts: sources.alerts(),
      ...(unread === undefined ? {} : { alertsUnread: unread }),
      nodeViews: sources.nodeViews(),
      rebootGates: sources.rebootGates?.(),
      decisions: this.decisions(),
      isOwnerPolicyInstalled: policyProblems(this.policies(), ownerPolicies).length === 0,
      gitFiles: sources.gitFiles(),
      gitProblems: sources.gitProblems?.() ?? [],
      dependencies: this.#dependencies(),
      memoryCalms: sources.memoryCalms(),
      ...sources.memoryOfPrometheus?.(),
      notes: sources.notes(),
    };
  }

  /** May be iterated several times. */
  pods(): Iterable<ClusterPod> {
    return { [Symbol.iterator]: () => this.#pods.store.values() };
  }

  /** Our admission policies and their bindings. */
  policies(): readonly PolicyObject[] {
    return [...this.#policies.store.values(), ...this.#bindings.store.values()].map(({ policy }) => policy);
  }

  decisions(): readonly Decision[] {
    return [...this.#decisions.store.values()].map(({ decision }) => decision);
  }

  approvals(): readonly DecisionApproval[] {
    return [...this.#approvals.store.values()].map(({ approval }) => approval);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all, ...this.#extra].map((reflector) => reflector.close()));
  }

  #dependencies(): readonly Dependency[] {
    const services = [...this.#services.store.values()];
    return [
      ...this.#shownNeeds(services),
      ...[...this.#daemonSets.store.values()].flatMap(({ csi }) => csi ?? []),
      ...services.flatMap(({ loadBalancer }) => loadBalancer ?? []),
    ];
  }

  #readyServices(): readonly ServiceFacts[] {
    const ready = new Map<string, number>();
    for (const slice of this.#slices.store.values()) {
      const key = `${slice.namespace}/${slice.service}`;
      ready.set(key, (ready.get(key) ?? 0) + slice.ready);
    }
    return [...this.#services.store.values()].map(({ namespace, name }) => ({
      namespace,
      name,
      readyEndpoints: ready.get(`${namespace}/${name}`) ?? 0,
    }));
  }

  #follow<T extends Named>(
    resource: string,
    path: string,
    project: (value: unknown) => T | undefined,
    { isExtra = false, ...more }: FollowOptions<T> = {},
  ): Reflector<T> {
    const { api, clock, logger } = this.#options;
    const reflector = new Reflector<T>({
      api,
      clock,
      logger,
      resource,
      path,
      project,
      isSame: isDeepStrictEqual,
      ...more,
    });
    (isExtra ? this.#extra : this.#all).push(reflector as unknown as Reflector<Named>);
    return reflector;
  }
}

/** Argo CD's resources; all others belong to Kubernetes or are installed with the guard. */
const mayBeAbsent: ReadonlySet<string> = new Set(["applications", "appprojects"]);

/** A restarting API server is back sooner. */
const blindAfterMs = 60_000;

interface FollowOptions<T extends Named> extends Partial<Pick<ReflectorOptions<T>, "isSame" | "query" | "isCached">> {
  readonly isExtra?: boolean;
}
