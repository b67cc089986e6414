import { findAvalanches, isStuck } from "../../guard/detect/avalanche.ts";
import { foreignText } from "../../guard/detect/foreign-text.ts";
import { isOwnerless } from "../../guard/facts/cluster-pod.ts";
import { stopLabel } from "../../guard/decide/stop-step.ts";
import { valueOr } from "../cluster/seen.ts";
import type { PodSeen, Snapshot } from "../cluster/snapshot.ts";
import {
  failedLine,
  goodLine,
  unknownLine,
  warningLine,
  type Category,
  type ClusterLine,
  type LineEvidence,
} from "./cluster-line.ts";
import { plural } from "../terminal/plural.ts";

/** The thresholds of the alerts NamespacePendingPodBacklog and OwnerlessPods. */
const backlogWarning = 25;
const backlogFailed = 100;
const ownerlessWarning = 50;
/** More clients than this are only counted. */
const clientsShown = 3;
const clientCharsMax = 60;

export function podCategory(snapshot: Snapshot): Category {
  const { pods, nowMs } = snapshot;
  if (!("value" in pods)) return { name: "pods", lines: [unknownLine("LVE0601", pods)] };
  const live = pods.value.filter(({ phase }) => phase !== "Succeeded" && phase !== "Failed");
  return {
    name: "pods",
    lines: [backlogLine(live, nowMs), avalancheLine(live, nowMs), ownerlessLine(live), denyLine(live, snapshot)],
  };
}

function backlogLine(pods: readonly PodSeen[], nowMs: number): ClusterLine {
  const stuck = byNamespace(pods.filter((pod) => isStuck(pod, nowMs)));
  const many = [...stuck].filter(([, own]) => own.length >= backlogWarning);
  const evidence = Object.fromEntries(
    [...stuck].map(([namespace, own]) => [
      namespace,
      `${plural(own.length, "pod")} with a node, not started for five minutes`,
    ]),
  );
  if (many.length === 0) return goodLine("LVE0601", stuck.size === 0 ? "" : "a few pods are slow", evidence);
  const isFailed = many.some(([, own]) => own.length >= backlogFailed);
  return (isFailed ? failedLine : warningLine)("LVE0601", plural(many.length, "namespace"), evidence);
}

function avalancheLine(pods: readonly PodSeen[], nowMs: number): ClusterLine {
  const found = findAvalanches(pods, nowMs);
  const evidence = Object.fromEntries(
    found.map(({ namespace, shape, members, nodes, clientSays }) => [
      `${namespace} (${foreignText(shape, clientCharsMax)})`,
      `${members.length} pods on ${plural(nodes.size, "node")}, client says "${foreignText(clientSays, clientCharsMax)}"`,
    ]),
  );
  return found.length === 0
    ? goodLine("LVE0603", "")
    : failedLine("LVE0603", plural(found.length, "avalanche"), evidence);
}

function ownerlessLine(pods: readonly PodSeen[]): ClusterLine {
  const ownerless = byNamespace(pods.filter((pod) => isOwnerless(pod) && !pod.isExempt));
  const many = [...ownerless].filter(([, own]) => own.length >= ownerlessWarning);
  const evidence = clientsOf(ownerless);
  const total = [...ownerless.values()].reduce((sum, own) => sum + own.length, 0);
  if (many.length === 0)
    return goodLine("LVE0602", `${plural(total, "pod")} in ${plural(ownerless.size, "namespace")}`, evidence);
  return warningLine("LVE0602", `${plural(many.length, "namespace")} with ${ownerlessWarning} or more`, evidence);
}

/** Never a failure: a person reads this before labelling a namespace. */
function denyLine(pods: readonly PodSeen[], { namespaces }: Snapshot): ClusterLine {
  const labels = new Map(valueOr(namespaces, []).map(({ name, labels: own }) => [name, own[stopLabel.key] ?? ""]));
  // The policy skips a namespace with the label allow.
  const refused = byNamespace(pods.filter((pod) => pod.isRefusable && labels.get(pod.namespace) !== "allow"));
  const clients = clientsOf(refused);
  const evidence = Object.fromEntries(
    Object.entries(clients).map(([namespace, text]) => [
      namespace,
      labels.get(namespace) === stopLabel.value ? `${text}; the namespace already denies new ones` : text,
    ]),
  );
  const why = "unless a person, a kubelet or an account in kube-system creates them, which a pod does not show";
  return refused.size === 0
    ? goodLine("LVE0604", "none of the existing pods")
    : goodLine("LVE0604", `pods like these of ${plural(refused.size, "namespace")}, ${why}`, evidence);
}

function byNamespace(pods: readonly PodSeen[]): ReadonlyMap<string, readonly PodSeen[]> {
  const found = Map.groupBy(pods, ({ namespace }) => namespace);
  return new Map([...found].toSorted(([, left], [, right]) => right.length - left.length));
}

/** Pods per client, as the clients call themselves. */
function clientsOf(namespaces: ReadonlyMap<string, readonly PodSeen[]>): LineEvidence {
  return Object.fromEntries(
    [...namespaces].map(([namespace, pods]) => {
      const clients = [...Map.groupBy(pods, makerOf)];
      const shown = clients
        .toSorted(([, left], [, right]) => right.length - left.length)
        .slice(0, clientsShown)
        .map(([client, own]) => `${own.length} ${client}`);
      const more = clients.length > shown.length ? [`and ${clients.length - shown.length} more kinds`] : [];
      return [namespace, `${plural(pods.length, "pod")}: ${[...shown, ...more].join(", ")}`];
    }),
  );
}

function makerOf({ owner, clientSays }: PodSeen): string {
  if (owner !== "") return "with an owner that does not control them";
  const client = foreignText(clientSays, clientCharsMax);
  return client === "" ? "of an unnamed client" : `of a client that says "${client}"`;
}
