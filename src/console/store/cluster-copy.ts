import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import { parseDecision } from "../../guard/decision/parse-decision.ts";
import type { Step } from "../../guard/decision/step.ts";
import { leasesPath } from "../../guard/lead/lease-object.ts";
import { keepApproval } from "../../guard/observe/keep-decision.ts";
import { countOf, timeMs } from "../../guard/json-values.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { projectNode } from "../../guard/observe/project-workloads.ts";
import type { FollowableApi } from "../../kube/client/api.ts";
import type { Named } from "../../kube/watch/object-store.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";
import type { ReflectorOptions } from "../../kube/watch/reflector-options.ts";
import { Reflector } from "../../kube/watch/reflector.ts";
import { gatesPath, parseRebootGate } from "../../wire/reboot-gate.ts";
import { keptCard } from "../view/decision-cards.ts";
import { projectConsolePod, sameConsolePod } from "../facts/console-pod.ts";
import { projectNetworkSeen } from "../facts/network-seen.ts";
import { projectSandboxFailure } from "../facts/sandbox-failure.ts";

export interface CopyOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the guard and its Decisions. */
  readonly namespace: string;
  readonly stepDetails: (step: Step) => readonly string[];
  /** What a DaemonSet is to pod networking by itself. */
  readonly daemonSet: (item: unknown) => DaemonSetSeen | undefined;
  /** The `NAMESPACE/NAME` that the guard's Deployment names with --cni-daemon; the defaults where it names none. */
  readonly toldDaemons: (deployment: unknown) => readonly string[];
}

interface DaemonSetSeen extends Named {
  /** Levee's own daemon, which answers on the metrics port. */
  readonly isOurs: boolean;
  readonly isCni: boolean;
}

/** A local copy of everything the console shows: one list and one watch per kind, with the viewer's own rights. */
export class ClusterCopy {
  readonly #options: CopyOptions;
  readonly #texts = new SharedTexts();
  readonly #all: Reflector<Named>[] = [];
  readonly pods;
  readonly nodes;
  readonly #daemonSets;
  readonly #guard;
  readonly decisions;
  readonly approvals;
  readonly gates;
  readonly networks;
  readonly failures;
  readonly lease;

  constructor(options: CopyOptions) {
    this.#options = options;
    const { namespace, stepDetails, daemonSet, toldDaemons } = options;
    const home = encodeURIComponent(namespace);
    const ours = `/apis/levee.dev/v1alpha1/namespaces/${home}`;
    this.pods = this.#follow("pods", "/api/v1/pods", (item) => projectConsolePod(item, this.#texts), {
      isSame: sameConsolePod,
    });
    this.nodes = this.#follow("nodes", "/api/v1/nodes", projectNode);
    this.#daemonSets = this.#follow("daemonsets", "/apis/apps/v1/daemonsets", daemonSet);
    this.#guard = this.#follow(
      "deployments",
      `/apis/apps/v1/namespaces/${home}/deployments`,
      (item) => ({ namespace, name: "levee-guard", told: toldDaemons(item) }),
      { query: { fieldSelector: "metadata.name=levee-guard" } },
    );
    this.decisions = this.#follow("decisions", `${ours}/decisions`, (item) => {
      const decision = parseDecision(item);
      return decision === undefined ? undefined : keptCard(decision, stepDetails);
    });
    this.approvals = this.#follow("decisionapprovals", `${ours}/decisionapprovals`, keepApproval);
    this.gates = this.#follow("rebootgates", gatesPath, (item) => {
      const gate = parseRebootGate(item);
      return gate === undefined ? undefined : { namespace: "", name: gate.node, gate };
    });
    this.networks = this.#follow(
      "network-attachment-definitions",
      "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
      (item) => projectNetworkSeen(item, this.#texts),
    );
    this.failures = this.#follow("events", "/api/v1/events", (item) => projectSandboxFailure(item, this.#texts), {
      query: { fieldSelector: "reason=FailedCreatePodSandBox" },
      isCached: false,
    });
    this.lease = this.#follow("leases", leasesPath(namespace), guardSeat, {
      query: { fieldSelector: "metadata.name=levee-guard" },
    });
  }

  start(): void {
    for (const reflector of this.#all) reflector.start();
  }

  health(): readonly ReflectorHealth[] {
    return this.#all.map((reflector) => reflector.health());
  }

  /** `NAMESPACE/NAME` of the DaemonSets that pod starts depend on: by what they are, and by what the guard is told. */
  cniDaemons(): ReadonlySet<string> {
    const [guard] = this.#guard.store.values();
    const told = guard?.told ?? this.#options.toldDaemons(undefined);
    return new Set(
      [...this.#daemonSets.store.values()]
        .map(({ namespace, name, isCni }) => ({ key: `${namespace}/${name}`, isCni }))
        .filter(({ key, isCni }) => isCni || told.includes(key))
        .map(({ key }) => key),
    );
  }

  /** Whether Levee's own daemon is installed. */
  hasDaemons(): boolean {
    return [...this.#daemonSets.store.values()].some(({ isOurs }) => isOurs);
  }

  /** `NAMESPACE/NAME` of the pod of Levee's daemon on the node; empty when there is none. */
  daemonOn(node: string): string {
    const owners = [...this.#daemonSets.store.values()]
      .filter(({ isOurs }) => isOurs)
      .map(({ namespace, name }) => `${namespace} DaemonSet/${name}`);
    for (const { namespace, name, owner, node: on } of this.pods.store.values())
      if (on === node && owners.includes(`${namespace} ${owner}`)) return `${namespace}/${name}`;
    return "";
  }

  /** Called with each change of anything. */
  onChange(listener: () => void): void {
    for (const { store } of this.#all) store.onChange(listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((reflector) => reflector.close()));
  }

  #follow<T extends Named>(
    resource: string,
    path: string,
    project: (value: unknown) => T | undefined,
    more: Partial<Pick<ReflectorOptions<T>, "isSame" | "query" | "isCached">> = {},
  ): Reflector<T> {
    const { api, clock, logger } = this.#options;
    const options = { api, clock, logger, resource, path, project, isSame: isDeepStrictEqual, ...more };
    const reflector = new Reflector<T>(options);
    this.#all.push(reflector as unknown as Reflector<Named>); // only its store and health are used
    return reflector;
  }
}

/** Who leads the guard, and until when his word counts. */
interface GuardSeat extends Named {
  readonly holder: string;
  readonly untilMs: number;
}

function guardSeat(item: unknown): GuardSeat | undefined {
  const { namespace, name } = objectOf(objectOf(item)["metadata"]);
  const { holderIdentity, renewTime, leaseDurationSeconds } = objectOf(objectOf(item)["spec"]);
  if (textOf(name) === "") return undefined;
  const untilMs = timeMs(renewTime) + countOf(leaseDurationSeconds) * 1_000;
  return { namespace: textOf(namespace), name: textOf(name), holder: textOf(holderIdentity), untilMs };
}
