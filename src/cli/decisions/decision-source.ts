import {
  decisionApiVersion,
  decisionGroup,
  decisionVersion,
  terminalPhases,
  type Decision,
  type DecisionApproval,
  type Verdict,
} from "../../guard/decision/decision.ts";
import { decisionPhase } from "../../guard/decide/standing.ts";
import { parseApproval } from "../../guard/decision/parse-approval.ts";
import { parseDecision } from "../../guard/decision/parse-decision.ts";
import { timeMs } from "../../guard/json-values.ts";
import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { listPages } from "../../kube/watch/list-pages.ts";
import { CommandFailure } from "../failure.ts";

export interface DecisionSource {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** A Decision with a thousand targets has 138 KB. */
const pageItems = 20;
const requestMs = 30_000;

export interface DecisionList {
  /** Open ones first, the oldest at the top; then those that have ended, the newest at the top. */
  readonly decisions: readonly Decision[];
  /** Names of Decisions that this program cannot read, because a newer guard wrote them. */
  readonly unread: readonly string[];
}

export async function readDecisions(source: DecisionSource): Promise<DecisionList> {
  const decisions: Decision[] = [];
  const unread: string[] = [];
  await forEach(source, "decisions", (item) => {
    const decision = parseDecision(item);
    if (decision === undefined) unread.push(textOf(objectOf(objectOf(item)["metadata"])["name"]));
    else decisions.push(decision);
  });
  return { decisions: decisions.toSorted(byTurn), unread };
}

/** Accepts the name that `-o name` prints, too. */
export async function readDecision(source: DecisionSource, given: string): Promise<Decision> {
  const name = given.replace(/^decisions?(?:\.levee\.dev)?\//u, "");
  const path = `${folderOf(source, "decisions")}/${encodeURIComponent(name)}`;
  const text = await source.api
    .call({ method: "GET", path, deadlineMs: requestMs, signal: source.signal })
    .catch((thrown: unknown) => {
      throw kubeStatusOf(thrown) === 404 ? notThere(source, name) : thrown;
    });
  const decision = parseDecision(JSON.parse(text) as unknown); // looked at by parseDecision
  if (decision !== undefined) return decision;
  throw new CommandFailure(
    "decision-unreadable",
    `Cannot read the Decision ${name}: this program cannot read its plan`,
    {
      remedy: "use the levee program of the guard's release",
    },
  );
}

/** The approvals of a Decision, oldest first; also those of an earlier Decision with the same name. */
export async function readApprovals(source: DecisionSource, decision: string): Promise<readonly DecisionApproval[]> {
  const approvals: DecisionApproval[] = [];
  await forEach(source, "decisionapprovals", (item) => {
    const approval = parseApproval(item);
    if (approval?.spec.decision === decision) approvals.push(approval);
  });
  return approvals.toSorted(byAge);
}

/** The user name that the API server gives us. */
export async function whoAmI({ api, signal }: DecisionSource): Promise<string> {
  const text = await api.call({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
    deadlineMs: requestMs,
    signal,
  });
  const review: unknown = JSON.parse(text);
  return textOf(objectOf(objectOf(objectOf(review)["status"])["userInfo"])["username"]);
}

interface NewApproval {
  readonly verdict: Verdict;
  readonly by: string;
  readonly reason?: string | undefined;
}

/** Creates a person's verdict on exactly this Decision and this plan. */
export async function createApproval(
  source: DecisionSource,
  decision: Decision,
  word: NewApproval,
): Promise<DecisionApproval> {
  const { name, uid = "" } = decision.metadata;
  const text = await source.api.call({
    method: "POST",
    path: folderOf(source, "decisionapprovals"),
    body: JSON.stringify({
      apiVersion: decisionApiVersion,
      kind: "DecisionApproval",
      metadata: { generateName: `${name}-`, namespace: source.namespace },
      spec: {
        decision: name,
        decisionUID: uid,
        planHash: decision.spec.planHash,
        verdict: word.verdict,
        by: { username: word.by },
        ...(word.reason === undefined ? {} : { reason: word.reason }),
      },
    }),
    deadlineMs: requestMs,
    signal: source.signal,
  });
  const approval = parseApproval(JSON.parse(text) as unknown); // looked at by parseApproval
  if (approval === undefined) throw new Error("The API server created the approval but did not return it");
  return approval;
}

async function forEach(source: DecisionSource, resource: Resource, onItem: (item: unknown) => void): Promise<void> {
  const { api, signal } = source;
  try {
    await listPages({ api, path: folderOf(source, resource), query: {}, signal, pageItems }, onItem);
  } catch (thrown) {
    throw kubeStatusOf(thrown) === 404 ? notInstalled() : thrown;
  }
}

type Resource = "decisions" | "decisionapprovals";

function folderOf({ namespace }: DecisionSource, resource: Resource): string {
  return `/apis/${decisionGroup}/${decisionVersion}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
}

function notThere({ namespace }: DecisionSource, name: string): CommandFailure {
  return new CommandFailure("decision-unknown", `Cannot find the Decision ${name} in ${namespace}`, {
    remedy: "levee decisions list",
  });
}

function notInstalled(): CommandFailure {
  return new CommandFailure("guard-absent", "Cannot list Decisions: this cluster does not have their CRD", {
    remedy: "kubectl apply -f crds.yaml of the release",
  });
}

function byAge(left: Decision | DecisionApproval, right: Decision | DecisionApproval): number {
  return madeMs(left) - madeMs(right) || (left.metadata.name < right.metadata.name ? -1 : 1);
}

/** What waits for an answer comes first. */
function byTurn(left: Decision, right: Decision): number {
  const isEnded = (decision: Decision): number => (terminalPhases.has(decisionPhase(decision)) ? 1 : 0);
  const ended = isEnded(left);
  return ended - isEnded(right) || (ended === 1 ? byStart(right, left) : byStart(left, right));
}

/** Both Decisions of a cause have the same second; the stop comes before the recovery. */
function byStart(left: Decision, right: Decision): number {
  const isStop = ({ spec }: Decision): number => (spec.purpose === "StopSource" ? 1 : 0);
  return madeMs(left) - madeMs(right) || isStop(right) - isStop(left) || byAge(left, right);
}

function madeMs({ metadata }: Decision | DecisionApproval): number {
  return timeMs(metadata.creationTimestamp);
}
