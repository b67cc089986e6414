import { membersMin, type Avalanche } from "../detect/avalanche.ts";
import type { Symptom } from "../detect/symptoms.ts";
import type { FollowedWorkload } from "../decision/decision.ts";
import { checksMax } from "../decision/limits.ts";
import type { VerifyCheck } from "../decision/step.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { timeText } from "../json-values.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** The catch-up after an outage of hours: images, volumes, and Applications that are compared every three minutes. */
const withinSeconds = 1_800;
/** A few Applications may be Unknown for reasons of their own. */
const unknownShare = 0.1;

/** Checks that every effect of the cause is gone. */
export function verifyStep(
  { namespace, sinceMs }: Pick<Avalanche, "namespace" | "sinceMs">,
  linked: readonly Symptom[],
  world: World,
  settings: GuardSettings,
): StepDraft {
  const checks: VerifyCheck[] = [
    { check: "BacklogGone", namespace, podsMax: membersMin - 1 },
    ...linked.flatMap((symptom) => checksOf(symptom)),
    ...servicesOf(linked, world),
  ];
  const outside = outsideChecks(settings);
  const kept = distinct(checks).slice(0, checksMax - outside.length);
  return draftOf([...kept, ...outside], sinceMs, world.applications.length > 0);
}

/** Checks the workloads that followed from a cause that is no backlog; empty when there are none. */
export function followedStep(sinceMs: number, linked: readonly Symptom[]): readonly StepDraft[] {
  const checks = distinct(linked.flatMap((symptom) => checksOf(symptom))).slice(0, checksMax);
  return checks.length === 0 ? [] : [draftOf(checks, sinceMs, false)];
}

function distinct(checks: readonly VerifyCheck[]): readonly VerifyCheck[] {
  return [...new Map(checks.map((check) => [JSON.stringify(check), check])).values()];
}

function draftOf(checks: readonly VerifyCheck[], sinceMs: number, hasArgo: boolean): StepDraft {
  return ({ id }) => ({
    id,
    action: "Verify",
    title: "Verify that every effect of the cause is gone",
    kubectl: [
      kubectl("get", "daemonsets,statefulsets,deployments", "--all-namespaces"),
      kubectl("get", "endpointslices", "--all-namespaces"),
      ...(hasArgo ? [kubectl("get", "applications.argoproj.io", "--all-namespaces")] : []),
    ],
    preconditions: [],
    check: { what: "Every check holds at the same time", deadlineSeconds: withinSeconds },
    verify: { withinSeconds, since: timeText(sinceMs), checks },
  });
}

/** What people see, asked where the site has said how. */
export function outsideChecks({ verifyUrls = [], prometheus }: GuardSettings): readonly VerifyCheck[] {
  return [
    ...verifyUrls.map(({ url, status }): VerifyCheck => ({ check: "UrlAnswers", url, status })),
    ...(prometheus === undefined ? [] : [{ check: "ProbesSucceed" } as const]),
  ];
}

function checksOf(symptom: Symptom): readonly VerifyCheck[] {
  if (symptom.kind === "CniDaemonKilled") {
    const [namespace = "", name = ""] = symptom.daemonSet.split("/");
    return [{ check: "DaemonSetReady", namespace, name }];
  }
  if (symptom.kind === "WorkloadStuck") return workloadChecks(symptom.workload);
  if (symptom.kind === "ApplicationsUnknown")
    return [{ check: "ApplicationsKnown", unknownMax: Math.floor(symptom.total * unknownShare) }];
  return [];
}

/** Kubernetes counts the ready pods of these kinds only. */
export function workloadChecks({ kind, namespace, name }: FollowedWorkload): readonly VerifyCheck[] {
  switch (kind) {
    case "DaemonSet":
      return [{ check: "DaemonSetReady", namespace, name }];
    case "Deployment":
      return [{ check: "DeploymentAvailable", namespace, name }];
    case "StatefulSet":
      return [{ check: "StatefulSetReady", namespace, name }];
    default:
      return [];
  }
}

/** Services without endpoints in the namespaces of stuck workloads. */
function servicesOf(linked: readonly Symptom[], { services }: World): readonly VerifyCheck[] {
  const stuck = new Set(
    linked.flatMap((symptom) => (symptom.kind === "WorkloadStuck" ? [symptom.workload.namespace] : [])),
  );
  return services
    .filter(({ namespace, readyEndpoints }) => readyEndpoints === 0 && stuck.has(namespace))
    .map(({ namespace, name }) => ({ check: "EndpointsReady", namespace, name }));
}
