import type { PolicyObject } from "../../guard/approve/policy-standing.ts";
import { shippedDefinitions } from "../../guard/approve/shipped-definitions.ts";
import { GuardConfigMap } from "../../guard/act/guard-config-map.ts";
import { BudgetStore } from "../../guard/act/removal/budget-store.ts";
import type { RemovalBudget } from "../../guard/act/removal/removal-budget.ts";
import { parseCalms } from "../../guard/decide/lower/calm-text.ts";
import type { MemoryCalm } from "../../guard/facts/memory-calm.ts";
import type { ClusterPod } from "../../guard/facts/cluster-pod.ts";
import { projectClusterPod } from "../../guard/facts/project-cluster-pod.ts";
import type { DeploymentFacts, NamespaceFacts } from "../../guard/facts/world.ts";
import { policyPaths, projectPolicy } from "../../guard/observe/project-policy.ts";
import { projectDeployment, projectNamespace } from "../../guard/observe/project-workloads.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import { gatesPath, parseRebootGate, type RebootGate } from "../../wire/reboot-gate.ts";
import { readDecisions, type DecisionList } from "../decisions/decision-source.ts";
import { CommandFailure } from "../failure.ts";
import { cniDaemonSet, type CniDaemonSet } from "./cni-daemon-set.ts";
import { approversOf, cniDaemonsOf, guardLease, nodeOf, usageOf, versionOf } from "./project.ts";
import type { ContainerUsage, GuardLease, NodeSeen, ServerVersion, Approver } from "./project.ts";
import { seeSiteNeeds, type SiteNeeds } from "./site-needs.ts";
import { isRefusable } from "./refusable-pod.ts";
import { see, seeList, seeObject, valueOr, type Asking, type Seen, type Unseen } from "./seen.ts";

/** Everything that the commands read, read once. Each part says if it could not be read. */
export interface Snapshot {
  readonly nowMs: number;
  readonly namespace: string;
  readonly version: Seen<ServerVersion>;
  readonly nodes: Seen<readonly NodeSeen[]>;
  readonly namespaces: Seen<readonly NamespaceFacts[]>;
  readonly pods: Seen<readonly PodSeen[]>;
  /** Those of Levee, Multus and the guard's options. */
  readonly daemonSets: Seen<readonly CniDaemonSet[]>;
  readonly siteNeeds: Seen<SiteNeeds>;
  readonly guard: Seen<DeploymentFacts | undefined>;
  readonly lease: Seen<GuardLease | undefined>;
  readonly policies: Seen<readonly PolicyObject[]>;
  readonly definitions: Seen<readonly unknown[]>;
  /** Undefined if the cluster has no CRD for Decisions. */
  readonly decisions: Seen<DecisionList | undefined>;
  /** The reboot gates; empty without their CRD. */
  readonly gates: Seen<readonly RebootGate[]>;
  readonly approvers: Seen<readonly Approver[]>;
  readonly mayAct: Seen<boolean>;
  readonly budget: Seen<RemovalBudget>;
  /** What the guard has written down of the memory limits that it raised. */
  readonly calms: Seen<readonly MemoryCalm[]>;
  /** Empty without metrics.k8s.io. */
  readonly usage: Seen<readonly ContainerUsage[]>;
}

export interface PodSeen extends ClusterPod {
  /** The ownerless-pod policy would refuse such a pod from an account that it checks. */
  readonly isRefusable: boolean;
}

/** A running server answers this from memory. */
const reachMs = 10_000;
const rbac = "/apis/rbac.authorization.k8s.io/v1";

export async function takeSnapshot(asking: Asking, namespace: string, nowMs: number): Promise<Snapshot> {
  const version = mapped(await seeObject(asking, "/version", reachMs), versionOf);
  return "value" in version
    ? await seeAll(asking, { namespace, nowMs, version })
    : nothingSeen(namespace, nowMs, version);
}

type Begin = Pick<Snapshot, "namespace" | "nowMs" | "version">;

async function seeAll(asking: Asking, begin: Begin): Promise<Snapshot> {
  const { namespace } = begin;
  const home = encodeURIComponent(namespace);
  const guard = await seeObject(asking, `/apis/apps/v1/namespaces/${home}/deployments/levee-guard`);
  const told = cniDaemonsOf(valueOr(guard, undefined));
  const [nodes, namespaces, pods, daemonSets] = await Promise.all([
    seeList(asking, "/api/v1/nodes", nodeOf),
    seeList(asking, "/api/v1/namespaces", projectNamespace),
    seePods(asking),
    seeList(asking, "/apis/apps/v1/daemonsets", (item) => item),
  ]);
  const siteNeeds = "value" in daemonSets ? await seeSiteNeeds(asking, daemonSets.value) : daemonSets;
  const [lease, policies, definitions, decisions, gates] = await Promise.all([
    seeObject(asking, `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/levee-guard`),
    seePolicies(asking),
    seeDefinitions(asking),
    see(asking, () => decisionsOf(asking, namespace)),
    seeList(asking, gatesPath, parseRebootGate),
  ]);
  const [approvers, acts, budget, calms, usage] = await Promise.all([
    seeApprovers(asking),
    seeObject(asking, `${rbac}/clusterrolebindings/levee-guard-acts`),
    see(asking, async () => (await new BudgetStore(asking.api, namespace).read()).budget),
    see(asking, async () => parseCalms((await new GuardConfigMap(asking.api, namespace, "memory-calm").read()).text)),
    seeList(asking, "/apis/metrics.k8s.io/v1beta1/pods", usageOf),
  ]);
  return {
    ...begin,
    ...{ nodes, namespaces, pods, siteNeeds, policies, definitions, decisions, gates, approvers },
    daemonSets: mapped(daemonSets, (items) => items.flatMap((item) => cniDaemonSet(item, told) ?? [])),
    guard: mapped(guard, projectDeployment),
    lease: mapped(lease, guardLease),
    mayAct: mapped(acts, (binding) => binding !== undefined),
    budget,
    calms,
    usage: mapped(usage, (lists) => lists.flat()),
  };
}

function mapped<T, U>(seen: Seen<T>, change: (value: T) => U): Seen<U> {
  return "value" in seen ? { value: change(seen.value) } : seen;
}

/** A server that does not answer gets no more requests. */
function nothingSeen(namespace: string, nowMs: number, unseen: Unseen): Snapshot {
  return {
    ...{ namespace, nowMs, version: unseen, nodes: unseen, namespaces: unseen, pods: unseen, daemonSets: unseen },
    ...{ guard: unseen, lease: unseen, policies: unseen, definitions: unseen, decisions: unseen, approvers: unseen },
    ...{ gates: unseen, mayAct: unseen, budget: unseen, calms: unseen, usage: unseen, siteNeeds: unseen },
  };
}

function seePods(asking: Asking): Promise<Seen<readonly PodSeen[]>> {
  const texts = new SharedTexts();
  return seeList(asking, "/api/v1/pods", (item) => {
    const pod = projectClusterPod(item, texts);
    return pod === undefined ? undefined : { ...pod, isRefusable: isRefusable(item) };
  });
}

async function seePolicies(asking: Asking): Promise<Seen<readonly PolicyObject[]>> {
  const policies = await seeList(
    asking,
    policyPaths.ValidatingAdmissionPolicy,
    (item) => projectPolicy("ValidatingAdmissionPolicy")(item)?.policy,
  );
  const bindings = await seeList(
    asking,
    policyPaths.ValidatingAdmissionPolicyBinding,
    (item) => projectPolicy("ValidatingAdmissionPolicyBinding")(item)?.policy,
  );
  return "value" in policies ? mapped(bindings, (found) => [...policies.value, ...found]) : policies;
}

async function seeDefinitions(asking: Asking): Promise<Seen<readonly unknown[]>> {
  const found: unknown[] = [];
  for (const { name } of shippedDefinitions) {
    const one = await seeObject(asking, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
    if (!("value" in one)) return one;
    if (one.value !== undefined) found.push(one.value);
  }
  return { value: found };
}

async function decisionsOf({ api, signal }: Asking, namespace: string): Promise<DecisionList | undefined> {
  try {
    return await readDecisions({ api, namespace, signal });
  } catch (thrown) {
    if (thrown instanceof CommandFailure && thrown.code === "guard-absent") return undefined;
    throw thrown;
  }
}

async function seeApprovers(asking: Asking): Promise<Seen<readonly Approver[]>> {
  const cluster = await seeList(asking, `${rbac}/clusterrolebindings`, approversOf);
  const local = await seeList(asking, `${rbac}/rolebindings`, approversOf);
  if (!("value" in cluster) && !("value" in local)) return cluster;
  return { value: [...valueOr(cluster, []), ...valueOr(local, [])].flat() };
}
