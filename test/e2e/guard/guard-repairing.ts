/** A cluster whose CNI daemon is killed for its memory and belongs to Argo CD, and Decisions that repair it. */
import { join } from "node:path";
import { windowLine } from "../../../src/guard/decide/hold-step.ts";
import { memoryParts } from "../../../src/guard/decide/memory-parts.ts";
import { placeSteps, type StepDraft } from "../../../src/guard/decide/step-draft.ts";
import { stuckStep } from "../../../src/guard/decide/stuck-step.ts";
import { decisionApiVersion, type Decision, type DecisionStatus } from "../../../src/guard/decision/decision.ts";
import { planHash } from "../../../src/guard/decision/plan-hash.ts";
import type { VerifyCheck } from "../../../src/guard/decision/step.ts";
import { defaultGuardSettings as settings } from "../../../src/guard/facts/guard-settings.ts";
import { markKey } from "../../../src/guard/facts/memory-mark.ts";
import type { ActingGuard } from "./guard-acting.ts";
import { decisions, guardUser, makePod } from "./guard-server.ts";
import { mergePatch, type Answer, type PolicyServer } from "../policy-server.ts";
import { until } from "../until.ts";

const daemonSetsPath = "/apis/apps/v1/namespaces/kube-system/daemonsets";
export const multusPath = `${daemonSetsPath}/kube-multus-ds`;
const application = "infra-multus";
const argo = "/apis/argoproj.io/v1alpha1/namespaces/argocd";
const projectPath = `${argo}/appprojects/default`;
const multus = { namespace: "kube-system", name: "kube-multus-ds" };
export const daemonNodes = ["n1", "n2", "n3"];

/** Argo CD's definitions are ours, with the fields that the guard reads; its controller is not run. */
export async function prepareArgo(server: PolicyServer): Promise<void> {
  server.must(["apply", "-f", join(import.meta.dir, "argo-crds.yaml")]);
  for (const name of ["applications.argoproj.io", "appprojects.argoproj.io"])
    server.must(["wait", "--for=condition=established", `crd/${name}`]);
  for (const namespace of ["argocd", "team-x"]) server.must(["create", "namespace", namespace]);
  const kind = "AppProject";
  const body = {
    apiVersion: "argoproj.io/v1alpha1",
    kind,
    metadata: { name: "default", namespace: "argocd" },
    spec: {},
  };
  await must(server, "POST", `${argo}/appprojects`, body);
}

/** The objects of one test, made anew, and what the controllers of workloads would write of them. */
export class BrokenCni {
  readonly #guard: ActingGuard;
  readonly #server: PolicyServer;
  #count = 0;

  constructor(guard: ActingGuard) {
    this.#guard = guard;
    this.#server = guard.server;
  }

  /** A DaemonSet at 50Mi that one Application lists among its resources and nothing marks. */
  async make(strategy: "RollingUpdate" | "OnDelete" = "RollingUpdate"): Promise<void> {
    await this.#server.ask({ method: "DELETE", path: multusPath });
    for (const namespace of ["argocd", "team-x"])
      await this.#server.ask({
        method: "DELETE",
        path: `${argo.replace("argocd", namespace)}/applications/${application}`,
      });
    await this.end();
    await must(this.#server, "POST", daemonSetsPath, daemonSet(strategy));
    await this.report({});
    await this.application("argocd", { automated: {} });
    await until("the watch has all of it", () => {
      const { daemonSets, applications } = this.#guard.facts.world();
      const uid = this.uid();
      return daemonSets.some((one) => one.uid === uid) && applications.length === 1 ? true : undefined;
    });
  }

  async application(namespace: string, syncPolicy: object): Promise<void> {
    const metadata = { name: application, namespace };
    const destination = { server: "https://kubernetes.default.svc" };
    const resources = [{ group: "apps", kind: "DaemonSet", ...multus }];
    const status = { sync: { status: "Synced" }, resources };
    const spec = { project: "default", destination, syncPolicy };
    const body = { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata, spec, status };
    await must(this.#server, "POST", `${argo.replace("argocd", namespace)}/applications`, body);
  }

  /** As the DaemonSet's controller would, which is not run. */
  async report(status: object): Promise<void> {
    const { generation } = this.#live().metadata;
    const ready = { currentNumberScheduled: 3, numberMisscheduled: 0, desiredNumberScheduled: 3 };
    const done = { updatedNumberScheduled: 3, numberReady: 3, observedGeneration: generation };
    await must(this.#server, "PATCH", `${multusPath}/status`, { status: { ...ready, ...done, ...status } });
  }

  async setLimit(memory: string): Promise<void> {
    const containers = [{ name: "kube-multus", image: "i", resources: { limits: { memory } } }];
    await must(this.#server, "PATCH", multusPath, { spec: { template: { spec: { containers } } } });
  }

  /** What the guard has written down of a raise. */
  mark(): string {
    return this.#live().metadata.annotations[markKey("kube-multus")] ?? "";
  }

  /** Pods of the DaemonSet that run on three nodes, as its controller and kubelets would make them. */
  async runDaemons(): Promise<void> {
    const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: multus.name, uid: this.uid(), controller: true };
    for (const node of daemonNodes) {
      const pod = { name: `kube-multus-ds-${node}`, namespace: multus.namespace, node, owners: [owner] };
      await makePod(this.#server, pod, { phase: "Running" });
    }
  }

  /** The kernel has killed the daemon of one node, as its kubelet would tell. */
  async kill(): Promise<void> {
    const terminated = { exitCode: 137, reason: "OOMKilled", finishedAt: new Date(Date.now() + 1_000).toISOString() };
    const container = {
      name: "main",
      image: "i",
      imageID: "",
      ready: true,
      restartCount: 1,
      lastState: { terminated },
    };
    const path = `/api/v1/namespaces/kube-system/pods/kube-multus-ds-${daemonNodes[0]}/status`;
    await must(this.#server, "PATCH", path, { status: { containerStatuses: [container] } });
  }

  endDaemons(): void {
    const pods = daemonNodes.map((node) => `pod/kube-multus-ds-${node}`);
    this.#server.must(["-n", "kube-system", "delete", "--ignore-not-found", "--force", "--grace-period=0", ...pods]);
  }

  limit(): string {
    return this.#live().spec.template.spec.containers[0]?.resources.limits.memory ?? "";
  }

  async replace(): Promise<void> {
    await this.#server.ask({ method: "DELETE", path: multusPath });
    await must(this.#server, "POST", daemonSetsPath, daemonSet("RollingUpdate"));
  }

  /** The hold, by the very line that people are shown. */
  hold(): void {
    this.run(windowLine({ name: application, projectNamespace: "argocd", project: "default", hasWindows: false }));
  }

  async end(): Promise<void> {
    await must(this.#server, "PATCH", projectPath, { spec: { syncWindows: null } });
  }

  run(line: string): void {
    const words = line.split(" -p ");
    const patch = words[1]?.replaceAll("'", "");
    this.#server.must([...(words[0] ?? "").split(" ").slice(1), ...(patch === undefined ? [] : ["-p", patch])]);
  }

  /** A Decision of these steps alone, approved: hold, more memory, and what the test adds. */
  async decide(more: readonly StepDraft[] = [], deadlineSeconds = 20): Promise<Decision> {
    const parts = memoryParts(settings.cniDaemons.slice(0, 1), this.#guard.facts.world());
    const drafts = [...parts.holds, ...parts.changes, stuckStep([]), ...more];
    return await this.decideOn(drafts, deadlineSeconds, parts.notes);
  }

  /** A Decision of these steps alone, approved. */
  async decideOn(drafts: readonly StepDraft[], deadlineSeconds = 20, notes: readonly string[] = []): Promise<Decision> {
    const name = `recover-repair-${(this.#count += 1)}-${Date.now() % 100_000}`;
    const steps = placeSteps(drafts, name, settings.namespace).map((step) => ({
      ...step,
      check: { ...step.check, deadlineSeconds },
    }));
    const plan = {
      cause: "OwnerlessPodAvalanche",
      purpose: "Recover",
      subject: { namespace: "fc", shape: "rd-" },
      steps,
    } as const;
    const words = { summary: "a test", evidence: [], chain: [], notes };
    const spec = { ...plan, ...words, planHash: planHash(plan) };
    const body = {
      apiVersion: decisionApiVersion,
      kind: "Decision",
      metadata: { name, namespace: settings.namespace },
      spec,
    };
    const made = await this.#server.ask({ method: "POST", path: decisions, body, as: { user: guardUser } });
    if (made.code !== 201) throw new Error(made.text);
    return await this.approve(name);
  }

  /** A person approves, and the guard says so, whatever its clock makes of the time. */
  async approve(name: string): Promise<Decision> {
    const approval = await this.#guard.say(name, "Approve");
    const at = new Date().toISOString();
    const { identity: leader, fence } = this.#guard.term;
    const status: DecisionStatus = {
      ...{ phase: "Approved", message: "", since: at, leader, fence },
      approval: { name: approval, by: "alice", at },
    };
    const path = `${decisions}/${name}/status`;
    const as = { user: guardUser };
    const written = await this.#server.ask({ method: "PATCH", path, body: { status }, type: mergePatch, as });
    if (written.code !== 200) throw new Error(written.text);
    return this.#guard.find(name);
  }

  uid(): string {
    return this.#live().metadata.uid;
  }

  #live(): LiveDaemonSet {
    return JSON.parse(this.#server.must(["get", "--raw", multusPath])) as LiveDaemonSet; // what the API server prints
  }
}

interface LiveDaemonSet {
  readonly metadata: {
    readonly uid: string;
    readonly generation: number;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { resources: { limits: { memory: string } } }[] };
    };
  };
}

export function verifyDraft(checks: readonly VerifyCheck[], withinSeconds = 20): StepDraft {
  return ({ id }) => ({
    id,
    action: "Verify",
    title: "Verify",
    kubectl: ["kubectl get endpointslices"],
    preconditions: [],
    check: { what: "Every check holds at the same time", deadlineSeconds: withinSeconds },
    verify: { withinSeconds, checks },
  });
}

function daemonSet(type: "RollingUpdate" | "OnDelete"): object {
  const labels = { app: "multus" };
  const containers = [{ name: "kube-multus", image: "i", resources: { limits: { memory: "50Mi" } } }];
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: multus,
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

export async function must(
  server: PolicyServer,
  method: "POST" | "PATCH",
  path: string,
  body: object,
): Promise<Answer> {
  const answer = await server.ask({ method, path, body, ...(method === "PATCH" ? { type: mergePatch } : {}) });
  if (answer.code >= 300) throw new Error(`${method} ${path}: ${answer.code} ${answer.text}`);
  return answer;
}
