import { decisionApiVersion, type Decision, type DecisionStatus } from "../../src/guard/decision/decision.ts";
import { planHash } from "../../src/guard/decision/plan-hash.ts";
import type { Step, StepAction } from "../../src/guard/decision/step.ts";

const at = "2026-05-10T17:55:00Z";
const check = { what: "it is seen", deadlineSeconds: 60 };
const sha1 = "0123456789abcdef0123456789abcdef01234567";

/** Without id and title. One of each action, each with every field its type has. */
const parts = [
  {
    action: "StopSource",
    stopSource: { way: "Label", namespace: "fc", key: "levee.dev/ownerless-pods", value: "deny" },
  },
  { action: "StopSource", stopSource: { way: "Quota", namespace: "fc", quota: "levee-ownerless-pods", pods: 30 } },
  {
    action: "HoldArgoApp",
    holdArgoApp: { namespace: "team", application: "a", projectNamespace: "argocd", project: "p", waitSeconds: 600 },
  },
  {
    action: "RemovePods",
    removePods: { namespace: "fc", batchPerNode: 10, forceAfterSeconds: 60, presentMin: 20 },
    targets: [{ namespace: "fc", name: "rd-1", uid: "u-1", node: "n1" }],
  },
  {
    action: "SetMemoryLimit",
    setMemoryLimit: {
      kind: "DaemonSet",
      ...{ namespace: "kube-system", name: "kube-multus-ds", uid: "u-2", container: "kube-multus" },
      ...{ oldLimit: "50Mi", newLimit: "1Gi", oldRequest: "50Mi", newRequest: "512Mi" },
    },
  },
  {
    action: "LockToGit",
    lockToGit: {
      ...{
        repository: "https://git.example/infra",
        baseRef: "main",
        branch: "levee/q-mr-1b",
        path: "apps/multus.yaml",
      },
      ...{ oldBlobSha: sha1, newBlobSha: sha1, newBytesSha256: "0".repeat(64), document: 0 },
      edits: [{ pointer: "/spec/x", from: "50Mi", to: "1Gi" }],
    },
  },
  {
    action: "ListStuck",
    listStuck: {
      workloads: [{ kind: "Deployment", namespace: "traefik", name: "traefik", stuckPods: 2, kubectl: "kubectl get" }],
      omitted: 0,
    },
  },
  {
    action: "RestartWorkload",
    restartWorkload: { kind: "Deployment", namespace: "traefik", name: "traefik", uid: "u-3", place: "the way in" },
  },
  {
    action: "ScaleOwner",
    scaleOwner: {
      kind: "Deployment",
      way: "Scale",
      ...{ namespace: "shop", name: "web", uid: "u-4", from: 500, to: 20, why: "20 of its pods have started" },
    },
  },
  {
    action: "ScaleOwner",
    scaleOwner: {
      kind: "CronJob",
      way: "Suspend",
      ...{ namespace: "shop", name: "nightly", uid: "u-5", why: "it makes more" },
      jobs: [{ name: "nightly-1", uid: "u-6" }],
    },
  },
  {
    action: "AskPerson",
    askPerson: {
      about: "SandboxNames",
      items: [{ object: "Pod/shop/web-1", node: "n1", uid: "u-7", what: "reserved", since: at, line: "crictl pods" }],
      omitted: 0,
    },
  },
  {
    action: "Verify",
    verify: {
      withinSeconds: 600,
      since: at,
      checks: [
        { check: "BacklogGone", namespace: "fc", podsMax: 5 },
        { check: "DaemonSetReady", namespace: "kube-system", name: "kube-multus-ds" },
        { check: "DeploymentAvailable", namespace: "traefik", name: "traefik" },
        { check: "StatefulSetReady", namespace: "db", name: "db" },
        { check: "MemoryEnough", namespace: "kube-system", name: "kube-multus-ds", forSeconds: 600 },
        { check: "EndpointsReady", namespace: "traefik", name: "traefik" },
        { check: "ApplicationsKnown", unknownMax: 0 },
        { check: "UrlAnswers", url: "https://update.example/", status: 200 },
        { check: "ProbesSucceed" },
      ],
    },
  },
] as const satisfies readonly { readonly action: StepAction; readonly [params: string]: unknown }[];

function steps(): readonly Step[] {
  return parts.map((part, index) => ({
    id: index + 1,
    title: part.action,
    kubectl: ["kubectl get pods"],
    preconditions: ["the cause is there"],
    check,
    ...part,
  }));
}

/** A Decision with every field that its type has. */
export function fullDecision(name: string, namespace = "levee-system"): Decision {
  return {
    apiVersion: decisionApiVersion,
    kind: "Decision",
    metadata: { name, namespace },
    spec: {
      cause: "OwnerlessPodAvalanche",
      purpose: "Recover",
      subject: { namespace: "fc", shape: "rd-" },
      summary: "219 ownerless pods",
      evidence: [{ fact: "members", value: 219, at, detail: "in fc" }],
      chain: [{ cause: "avalanche", effect: "alert/MultusOOMLoop", rule: "backlog-kills-daemon", why: "same nodes" }],
      notes: ["no limit is used yet"],
      planHash: planHash({
        cause: "OwnerlessPodAvalanche",
        purpose: "Recover",
        subject: { namespace: "fc", shape: "rd-" },
        steps: steps(),
      }),
      steps: steps(),
      revisions: [{ at, planHash: `sha256:${"0".repeat(64)}`, change: "25 more pods" }],
    },
  };
}

/** A status with every field that its type has. */
export function fullStatus(): DecisionStatus {
  return {
    ...{ phase: "Running", message: "removing", fence: 3, leader: "levee-guard-a", since: at, step: "4/8 RemovePods" },
    approval: { name: "yes", by: "alice", at },
    startedAt: at,
    endedAt: at,
    takeovers: 1,
    audit: [{ at, leader: "levee-guard-a", what: "Running: removing" }],
    intent: { step: 4, batch: 1, uids: ["u-1"], at },
    steps: [
      {
        ...{ id: 4, phase: "Running", message: "batch 1", at, dryRun: "Passed", verified: false, removed: 0, gone: 0 },
        ...{ leftAlone: ["rd-2: started meanwhile"], commit: sha1, lines: ["kubectl get pods"] },
        followed: [{ kind: "StatefulSet", namespace: "db", name: "db" }],
      },
    ],
  };
}
