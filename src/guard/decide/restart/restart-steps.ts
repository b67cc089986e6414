import { restartableKinds, type RestartableKind } from "../../decision/step.ts";
import type { StuckWorkload } from "../../detect/stuck-workloads.ts";
import type { World } from "../../facts/world.ts";
import { kubectl, rolloutRestartLine } from "../kubectl-lines.ts";
import { inRestartOrder, restartPlace } from "./restart-order.ts";
import type { StepDraft } from "../step-draft.ts";

/** One after the other in one Decision; more are listed for a person. */
const restartsMax = 12;
/** Images are pulled again after an outage, and each pod waits for the one before it. */
const checkSeconds = 900;
/** In one note; the list of stuck workloads has all of them. */
const namedMax = 6;

interface RestartParts {
  readonly steps: readonly StepDraft[];
  readonly notes: readonly string[];
}

/**
 * A step for each stuck workload that a restart cures and does not harm, what others depend on first. A note names the
 * others: a person decides about them.
 */
export function restartSteps(stuck: readonly StuckWorkload[], world: World): RestartParts {
  const judged = stuck.map((workload) => ({ workload, ...judge(workload, world) }));
  const able = judged.flatMap(({ target }) => (target === undefined ? [] : [target]));
  const ordered = inRestartOrder(able);
  const left = [
    ...judged.flatMap(({ workload, why }) => (why === undefined ? [] : [`${labelOf(workload)} (${why})`])),
    ...ordered.slice(restartsMax).map((target) => `${labelOf(target)} (${restartsMax} others come first)`),
  ];
  return { steps: ordered.slice(0, restartsMax).map(restartStep), notes: leftNotes(left) };
}

interface RestartTarget {
  readonly kind: RestartableKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

type Judged =
  | { readonly target: RestartTarget; readonly why?: undefined }
  | { readonly target?: undefined; readonly why: string };

function judge({ kind, namespace, name }: StuckWorkload, world: World): Judged {
  const restartable = restartableKinds.find((one) => one === kind);
  if (restartable === undefined) return { why: "its kind cannot be restarted" };
  if (isInstanceManager(name)) return { why: "volumes run through it" };
  const facts = factsOf(restartable, namespace, name, world);
  if (facts?.uid === undefined || facts.uid === "") return { why: "it is not visible" };
  if (facts.attachedVolume !== undefined)
    return { why: `its volume ${JSON.stringify(facts.attachedVolume)} is attached to its nodes` };
  if (facts.updatesOnDelete === true) return { why: "its update strategy is OnDelete" };
  if (facts.isPaused === true) return { why: "it is paused" };
  return { target: { kind: restartable, namespace, name, uid: facts.uid } };
}

/** Longhorn's processes that serve volumes: ending one takes the volumes of its node away from their pods. */
export function isInstanceManager(name: string): boolean {
  return /(?:^|-)instance-manager(?:-|$)/u.test(name);
}

interface RestartFacts {
  readonly uid?: string;
  readonly attachedVolume?: string;
  readonly updatesOnDelete?: boolean;
  readonly isPaused?: boolean;
}

function factsOf(kind: RestartableKind, namespace: string, name: string, world: World): RestartFacts | undefined {
  const { daemonSets, deployments, statefulSets = [] } = world;
  const all = { DaemonSet: daemonSets, Deployment: deployments, StatefulSet: statefulSets }[kind];
  return all.find((one) => one.namespace === namespace && one.name === name);
}

function restartStep(target: RestartTarget): StepDraft {
  const { kind, namespace, name, uid } = target;
  const place = restartPlace(target);
  const object = `${kind.toLowerCase()}/${name}`;
  return ({ id }) => ({
    id,
    action: "RestartWorkload",
    title: `Restart ${labelOf(target)} if its pods still do not start (${place})`,
    kubectl: [
      rolloutRestartLine(kind, namespace, name),
      kubectl("-n", namespace, "rollout", "status", object),
      // To take it back: the template as it was.
      kubectl("-n", namespace, "rollout", "undo", object),
    ],
    preconditions: [
      "The avalanche is gone, and the CNI daemons of two thirds of the nodes are ready",
      `It has the UID ${uid}, no attached volume, and pods that still do not start; otherwise it is left alone`,
    ],
    check: { what: "Its pods are new and ready, or it started by itself", deadlineSeconds: checkSeconds },
    restartWorkload: { kind, namespace, name, uid, place },
  });
}

function leftNotes(left: readonly string[]): readonly string[] {
  if (left.length === 0) return [];
  const more = left.length > namedMax ? ` and ${left.length - namedMax} more` : "";
  return [`Listed and not restarted by the guard: ${left.slice(0, namedMax).join(", ")}${more}`];
}

function labelOf({ kind, namespace, name }: Pick<StuckWorkload, "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace}/${name}`;
}
