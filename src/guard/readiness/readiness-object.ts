import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../kube/client/json-fields.ts";
import { timeText } from "../json-values.ts";

/** A NetworkReadiness: a person asks on which nodes a network must work, and the guard says whether it does. */
export interface ReadinessObject {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  /** The name of the network in the same namespace. */
  readonly network: string;
  /** Labels of the nodes that count. Empty: all. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly status: ReadinessStatus | undefined;
}

export interface ReadinessStatus {
  readonly conditions: readonly [ReadyCondition];
  readonly observedGeneration: number;
  readonly nodes: ReadyCounts;
  /** The first nodes that are not ready. */
  readonly unready: readonly UnreadyNode[];
  readonly observedAt: string;
  readonly expiresAt: string;
}

interface ReadyCondition {
  readonly type: "Ready";
  readonly status: "True" | "False" | "Unknown";
  readonly reason: ReadyReason;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

export type ReadyReason = "AllNodesReady" | "NodesNotReady" | "NodesNotHeard" | "NetworkMissing" | "NoNodes";

export interface ReadyCounts {
  readonly total: number;
  readonly ready: number;
  readonly notReady: number;
  readonly notHeard: number;
}

export interface UnreadyNode {
  readonly node: string;
  readonly reason: string;
}

export const readinessPath = "/apis/levee.dev/v1alpha1/networkreadinesses";

export function statusPath({ namespace, name }: Pick<ReadinessObject, "namespace" | "name">): string {
  const place = `namespaces/${encodeURIComponent(namespace)}/networkreadinesses/${encodeURIComponent(name)}`;
  return `/apis/levee.dev/v1alpha1/${place}/status`;
}

/** Undefined for something else. The definition's schema has checked the rest. */
export function parseReadiness(value: unknown): ReadinessObject | undefined {
  if (!isObject(value) || !isObject(value["metadata"])) return undefined;
  const { namespace, name, generation } = value["metadata"];
  const spec = isObject(value["spec"]) ? value["spec"] : {};
  if (typeof namespace !== "string" || typeof name !== "string" || typeof generation !== "number") return undefined;
  const network = typeof spec["network"] === "string" ? spec["network"] : name;
  const labels = isObject(spec["nodeSelector"]) ? Object.entries(spec["nodeSelector"]) : [];
  const nodeSelector = Object.fromEntries(labels.map(([key, label]) => [key, String(label)]));
  return { namespace, name, generation, network, nodeSelector, status: parseStatus(value["status"]) };
}

/** Only a status of our own counts as written; anything else is written anew. */
function parseStatus(value: unknown): ReadinessStatus | undefined {
  if (!isObject(value) || !Array.isArray(value["conditions"]) || typeof value["expiresAt"] !== "string")
    return undefined;
  return value as unknown as ReadinessStatus; // compared as a whole with the one to be written
}

/** How long a verdict stands. A guard that dies leaves it for no longer. */
const expiryMs = 300_000;

/** The status to write, or undefined while the present one says the same and is young. */
export function renewedStatus(
  { status: before, generation }: Pick<ReadinessObject, "status" | "generation">,
  verdict: Pick<ReadinessStatus, "nodes" | "unready"> & Pick<ReadyCondition, "status" | "reason" | "message">,
  nowMs: number,
): ReadinessStatus | undefined {
  const { nodes, unready, status, reason, message } = verdict;
  const [old] = before?.conditions ?? [];
  const now = timeText(nowMs);
  const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
  const condition = {
    type: "Ready",
    status,
    reason,
    message,
    lastTransitionTime,
    observedGeneration: generation,
  } as const;
  const said = { conditions: [condition] as const, observedGeneration: generation, nodes, unready };
  const isYoung = Date.parse(before?.expiresAt ?? "") - nowMs > expiryMs / 2;
  const { observedAt: _, expiresAt: __, ...saidBefore } = before ?? {};
  if (isYoung && isDeepStrictEqual(saidBefore, said)) return undefined;
  return { ...said, observedAt: now, expiresAt: timeText(nowMs + expiryMs) };
}
