import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { parseRebootGate } from "../../wire/reboot-gate.ts";
import type { Decision, StepStatus } from "../../guard/decision/decision.ts";
import type { Broken } from "../story/invariants.ts";
import { tenantNamespace } from "./cluster-objects.ts";
import type { GuardWorld } from "./guard-world.ts";

const avalancheMin = 20;
/** Stuck for a minute, found within a round. */
const foundMs = 100_000;

/** What is wrong when all is calm and everybody had time. */
export function problemsAtEnd(world: GuardWorld, nowMs: number): readonly Broken[] {
  return [
    ...noLeader(world),
    ...unfinished(world),
    ...unproposed(world, nowMs),
    ...badGates(world),
    ...badCounts(world),
  ];
}

function* noLeader({ guards, leader }: GuardWorld): Generator<Broken> {
  if (guards.some(({ identity }) => identity === leader)) return;
  yield { rule: "guard-leads", text: `no running guard leads: ${leader} holds the Lease` };
}

/** Only a person's hands, and a look at what may still come well, take longer. Whoever comes after such a look waits for it. */
function* unfinished({ api }: GuardWorld): Generator<Broken> {
  const open = decisionsOf(api.objects("decisions")).filter(
    ({ spec, status }) => spec.purpose !== "ByHand" && (status?.phase === "Approved" || status?.phase === "Running"),
  );
  if (open.some(({ status }) => status?.step?.endsWith("Verify") === true)) return;
  for (const { metadata, status } of open)
    yield { rule: "work-ends", text: `${metadata.name} is ${status?.phase}: ${status?.message}` };
}

function* unproposed({ api, time }: GuardWorld, _nowMs: number): Generator<Broken> {
  const stuck = api.objects("pods").filter((pod) => {
    const { namespace, deletionTimestamp, creationTimestamp } = objectOf(pod["metadata"]);
    const isWaiting = objectOf(pod["status"])["phase"] === "Pending" && deletionTimestamp === undefined;
    return namespace === tenantNamespace && isWaiting && time.wallMs - Date.parse(textOf(creationTimestamp)) > foundMs;
  });
  const isAsked = decisionsOf(api.objects("decisions")).some(({ spec }) => spec.subject.namespace === tenantNamespace);
  if (stuck.length >= avalancheMin && !isAsked)
    yield { rule: "proposed", text: `${stuck.length} pods of ${tenantNamespace} do not start, and nobody is asked` };
}

/** A node that is due has a gate in force, and no other has one. */
function* badGates({ api, fleet, time, nodes }: GuardWorld): Generator<Broken> {
  for (const node of nodes) {
    const gate = parseRebootGate(api.get("rebootgates", `/${node}`));
    const isDue = fleet.due.has(node);
    if (fleet.silent.has(node)) continue;
    if (isDue && (gate === undefined || gate.expiresAtMs < time.wallMs - 5_000))
      yield {
        rule: "gates-stand",
        text: `${node} waits for its reboot, and its gate is ${gate === undefined ? "missing" : "over"}`,
      };
    if (!isDue && gate !== undefined) yield { rule: "gates-stand", text: `${node} was rebooted, and its gate stays` };
  }
}

/** Each target counts once, whoever led. */
function* badCounts({ api }: GuardWorld): Generator<Broken> {
  for (const { metadata, spec, status } of decisionsOf(api.objects("decisions"))) {
    if (status?.phase !== "Succeeded") continue;
    for (const step of spec.steps) {
      const told = status.steps?.find(({ id }) => id === step.id);
      const [all, targets] = [countedIn(told), "targets" in step ? step.targets.length : 0];
      if (step.action === "RemovePods" && all !== targets)
        yield {
          rule: "counts-true",
          text: `${metadata.name} tells of ${all} pods, and has ${targets}: ${told?.message}`,
        };
    }
  }
}

function countedIn({ removed = 0, gone = 0, leftAlone = [] }: Partial<StepStatus> = {}): number {
  return removed + gone + leftAlone.length;
}

function decisionsOf(objects: readonly JsonObject[]): readonly Decision[] {
  return objects as unknown as readonly Decision[]; // the guard wrote them
}
