import type { FailingView, OpenNetworkView, PodNow, WaitingView } from "../../wire/pod-now.ts";
import { tookText } from "../terminal/span.ts";

/** A waiting pod's position in line, the namespaces it competes with, and what it waits for. */
export function waitingText(view: WaitingView, namespace: string): string {
  const expected = view.expectedMs === undefined ? "" : `, about ${tookText(view.expectedMs)} more at the present rate`;
  return (
    `is waiting ${tookText(view.waitedMs)}, position ${view.position} of ${view.inLine} (class ${view.class})` +
    `${behindText(view, namespace)}; ${view.blocker} (${view.running} of ${view.slots} slots)${expected}; ` +
    `told to come back after ${tookText(view.limitMs)}`
  );
}

function behindText({ namespaces, namespacesTotal, ofItsNamespace, position }: WaitingView, own: string): string {
  if (position === 1) return "";
  const others = namespaces.filter(({ namespace }) => namespace !== own);
  const names = [
    ...(ofItsNamespace > 1 ? [`${ofItsNamespace - 1} more of ${own}`] : []),
    ...others.map(({ namespace, waiting }) => `${waiting} of ${namespace === "" ? "no namespace" : namespace}`),
  ];
  const rest = namespacesTotal - others.length - 1;
  return `, in line with ${names.join(", ")}${rest > 0 ? ` and ${rest} more namespaces` : ""}`;
}

export function heldText(view: FailingView): string {
  const isOwn = view.cause === "own" || view.cause === "values";
  const remedy = isOwn ? "; a change of the pod or its networks ends the wait" : "";
  return `${failuresText(view)}, next try in ${tookText(view.nextTryMs)}${remedy}; last: ${view.reason}`;
}

export function failuresText({ failures }: Pick<FailingView, "failures">): string {
  return failures === 1 ? "failed once" : `failed ${failures} times in a row`;
}

/** One line for each network that fails for all pods. */
export function openNetworkLines({ openNetworks = [] }: PodNow): readonly string[] {
  return openNetworks.map((open) => `${openNetworkText(open)}: ${open.reason}`);
}

export function openNetworkText({ network, forMs, failures, nextProbeMs }: OpenNetworkView): string {
  const next = nextProbeMs === 0 ? "the next pod that asks tries it" : `next try in ${tookText(nextProbeMs)}`;
  const name = network === "(node)" ? "The node's own network" : `Network ${network}`;
  return `${name} fails for everybody for ${tookText(forMs)} (${failures} failures), ${next}`;
}
