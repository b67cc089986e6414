import type { HeldLine, StormView } from "../../wire/console-storm.ts";
import type { NetworkLine, PluginLine } from "../../wire/console-view.ts";
import type { AttachmentView, ChecksAnswer } from "../../wire/node-view.ts";
import type { TopAnswer } from "../../wire/top-view.ts";
import { classNames, type DaemonFacts } from "../facts/daemon-facts.ts";
import { sortedNetworks, type NetworkSight } from "../view/network-lines.ts";
import { shownNamespaces, type StormCount, type StormRing } from "../view/storm-ring.ts";

const waitingShown = 50;

export function topFacts(top: TopAnswer, heardMs: number): DaemonFacts {
  const { classes, slots, memory } = top;
  const waitingIn = (name: string): number => classes.find((one) => one.class === name)?.waiting ?? 0;
  const byClass = classNames.map(waitingIn);
  const dels = waitingIn("detach");
  return {
    heardMs,
    adds: byClass.reduce((sum, count) => sum + count, 0) - dels,
    dels,
    byClass,
    running: slots.attaching + slots.detaching,
    slots: slots.limit + (slots.detachLimit ?? slots.detachCeiling),
    ...(memory.usageBytes === undefined ? {} : { memoryBytes: memory.usageBytes }),
    ...(memory.limitBytes === undefined ? {} : { memoryLimitBytes: memory.limitBytes }),
    kills: memory.oomKills ?? 0,
    leaks: top.leaks,
    held: top.heldPods,
    halfOpen: top.openNetworks.length,
    hung: top.hung.length,
    oldestWaitMs: Math.max(0, ...classes.map(({ oldestWaitMs }) => oldestWaitMs)),
    rebootMs: 0,
  };
}

/** Pods in line and those whose plugins run: neither has its network yet. */
export function topCount(top: TopAnswer): StormCount {
  const { byClass, adds } = topFacts(top, 0);
  return {
    waiting: adds + top.slots.attaching,
    attached: top.attachments,
    doneSoFar: top.totals.attached,
    byNamespace: top.flows.map(({ namespace, waiting }) => [namespace, waiting]),
    byClass,
  };
}

export function nodeStorm(
  top: TopAnswer | undefined,
  attachments: readonly AttachmentView[],
  ring: StormRing,
): StormView {
  const attaching = attachments.filter(({ phase, pod }) => phase === "attaching" && pod !== "");
  const node = top?.nodeName ?? "";
  return {
    spanMs: ring.spanMs,
    stepMs: ring.stepMs,
    namespaces: shownNamespaces(ring.points),
    points: ring.points,
    liveSinceMs: ring.liveSinceMs,
    classes: (top?.classes ?? []).map((one) => ({ ...one })),
    waiting: attaching
      .toSorted((left, right) => left.sinceWallMs - right.sinceWallMs)
      .slice(0, waitingShown)
      .map(({ namespace, pod, sinceWallMs }) => ({ namespace, pod, node, sinceMs: sinceWallMs })),
    held: top === undefined ? [] : heldLines(top),
    failures: (top?.failures ?? []).map(({ wallMs, namespace, pod, verb, reason }) => ({
      ...{ atMs: wallMs, node, namespace, pod, verb, why: reason },
    })),
  };
}

function heldLines({ nodeName: node, hung, openNetworks, heldPods }: TopAnswer): readonly HeldLine[] {
  return [
    ...hung.map(({ namespace, pod, plugin, network, forMs }): HeldLine => {
      const why = `${plugin === "" ? "a plugin" : plugin} of ${network} uses no CPU and does not end`;
      return { node, kind: "hung", name: `${namespace}/${pod}`, count: 1, forMs, why };
    }),
    ...openNetworks.map(({ network, failures, forMs, reason }): HeldLine => {
      return { node, kind: "network", name: network, count: failures, forMs, why: reason };
    }),
    ...(heldPods === 0
      ? []
      : [
          {
            node,
            kind: "pods" as const,
            name: "",
            count: heldPods,
            forMs: 0,
            why: "failed, and wait for their next try",
          },
        ]),
  ];
}

export function nodePlugins(top: TopAnswer | undefined): readonly PluginLine[] {
  return (top?.delegates ?? []).map(({ plugin, verb, runs, failed, p50Ms, p99Ms }) => ({
    ...{ plugin, verb, runs, failed, p50Ms, p99Ms },
  }));
}

export function networksHere(
  checks: ChecksAnswer | undefined,
  attachments: readonly AttachmentView[],
): readonly NetworkLine[] {
  const used = new Map<string, { pods: number; waiting: number; plugins: readonly string[] }>();
  for (const { phase, networks } of attachments) {
    for (const { network, plugins } of networks) {
      const use = used.get(network) ?? { pods: 0, waiting: 0, plugins };
      const isAttached = phase === "attached";
      used.set(network, { pods: use.pods + 1, waiting: use.waiting + (isAttached ? 0 : 1), plugins });
    }
  }
  const told = new Map((checks?.networks ?? []).map((one) => [one.network, one]));
  const node = checks?.nodeName ?? "";
  const sights = [...new Set([...used.keys(), ...told.keys()])].map((name): NetworkSight => {
    const { pods = 0, waiting = 0, plugins = [] } = used.get(name) ?? {};
    const ready = told.get(name);
    const onNodes = ready === undefined ? [] : [{ ...ready, node }];
    return { name, plugins, use: { pods, waiting }, isDefined: true, onNodes };
  });
  return sortedNetworks(sights);
}
