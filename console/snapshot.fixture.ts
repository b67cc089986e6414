/** The outage of the seed as the page would see it, for its tests and for looking at it without a cluster. */
import type { Proposal } from "../src/guard/decide/causes/make-proposal.ts";
import { propose } from "../src/guard/decide/propose.ts";
import { defaultGuardSettings } from "../src/guard/facts/guard-settings.ts";
import { outage } from "../src/guard/outage.fixture.ts";
import type { CardStep, DecisionCard } from "../src/wire/console-decision.ts";
import type { StormPoint, StormView } from "../src/wire/console-storm.ts";
import type { ConsoleSnapshot, NodeCell, RebootLine } from "../src/wire/console-view.ts";

const mebibyte = 1024 * 1024;

export function outageSnapshot(nowMs: number): ConsoleSnapshot {
  return {
    revision: 1,
    asOfMs: nowMs,
    viewer: {
      name: "alice",
      mode: "kubeconfig",
      place: "rke2-prod",
      namespace: "levee-system",
      mayDecide: "yes",
      why: "",
    },
    now: {
      state: "act",
      text: "2 Decisions wait for a person: 219 ownerless pods in fc-desktop do not start",
      reasons: [
        {
          state: "act",
          text: "2 Decisions wait for a person; the older one for 14 min",
          code: "OwnerlessPodAvalanche",
          command: "levee decisions list",
          part: "decisions",
        },
        {
          state: "act",
          text: "rke2-agent1: the CNI daemon was killed for memory 412 times",
          code: "",
          command: "levee status",
          part: "nodes",
        },
        {
          state: "watch",
          text: "2 nodes wait for a reboot, both blocked",
          code: "",
          command: "levee gate",
          part: "reboots",
        },
      ],
    },
    sources: [
      { name: "pods", state: "live", asOfMs: nowMs, why: "" },
      { name: "nodes", state: "live", asOfMs: nowMs, why: "" },
      { name: "decisions", state: "live", asOfMs: nowMs, why: "" },
      { name: "gates", state: "live", asOfMs: nowMs, why: "" },
      { name: "daemons", state: "live", asOfMs: nowMs, why: "" },
      { name: "alerts", state: "absent", asOfMs: 0, why: "No Alertmanager is set: levee console --alertmanager URL" },
    ],
    nodes: outageNodes(nowMs),
    storm: outageStorm(nowMs),
    networks: [
      {
        name: "kubevirt-vms/prod-vlan57",
        plugins: ["bridge", "whereabouts"],
        state: "failed",
        ready: 2,
        nodes: 3,
        pods: 6,
        waiting: 2,
        why: ["rke2-agent1: the bridge br-prod does not exist"],
      },
      {
        name: "fc-desktop/lab-net",
        plugins: ["macvlan", "host-local"],
        state: "ok",
        ready: 3,
        nodes: 3,
        pods: 41,
        waiting: 0,
        why: [],
      },
    ],
    plugins: [
      { plugin: "calico", verb: "ADD", runs: 2_841, failed: 219, p50Ms: 412, p99Ms: 9_800 },
      { plugin: "bridge", verb: "ADD", runs: 96, failed: 14, p50Ms: 48, p99Ms: 310 },
      { plugin: "whereabouts", verb: "ADD", runs: 82, failed: 0, p50Ms: 120, p99Ms: 640 },
      { plugin: "calico", verb: "DEL", runs: 1_204, failed: 0, p50Ms: 95, p99Ms: 280 },
    ],
    decisions: outageCards(nowMs),
    alerts: {
      firing: 45,
      explained: 41,
      why: "",
      names: [
        { name: "NodeFilesystemAlmostFull", firing: 3, explained: 0 },
        { name: "CertificateExpiresSoon", firing: 1, explained: 0 },
        { name: "ProbeFailed", firing: 22, explained: 22 },
        { name: "KubePodNotReady", firing: 12, explained: 12 },
        { name: "MultusOOMLoop", firing: 3, explained: 3 },
        { name: "ArgoCDAppsUnknown", firing: 4, explained: 4 },
      ],
    },
    reboots: outageReboots(nowMs),
  };
}

function outageStorm(nowMs: number): StormView {
  return {
    spanMs: 3_600_000,
    stepMs: 5_000,
    namespaces: ["fc-desktop", "longhorn-system", "traefik", "argocd"],
    points: stormPoints(nowMs),
    liveSinceMs: nowMs - 1_200_000,
    classes: [
      { class: "critical", waiting: 3, running: 2, oldestWaitMs: 840 },
      { class: "ordinary", waiting: 186, running: 14, oldestWaitMs: 412_000 },
      { class: "penalty", waiting: 28, running: 0, oldestWaitMs: 902_000 },
      { class: "detach", waiting: 4, running: 4, oldestWaitMs: 2_100 },
    ],
    waiting: Array.from({ length: 12 }, (_unused, index) => ({
      namespace: index % 5 === 4 ? "traefik" : "fc-desktop",
      pod: index % 5 === 4 ? `traefik-7c9d5b6f4-x${index}k2p` : `rd-browser-only-${(index * 7919 + 4096).toString(16)}`,
      node: `rke2-agent${(index % 3) + 1}`,
      sinceMs: nowMs - 16_500_000 + index * 61_000,
    })),
    held: [
      {
        node: "rke2-agent1",
        kind: "network",
        name: "kubevirt-vms/prod-vlan57",
        count: 1,
        forMs: 312_000,
        why: "bridge br-prod: Link not found",
      },
      {
        node: "rke2-agent1",
        kind: "pods",
        name: "",
        count: 28,
        forMs: 60_000,
        why: "each failed 5 times or more; the next try is in 60 s at most",
      },
      {
        node: "rke2-agent2",
        kind: "hung",
        name: "fc-desktop/rd-browser-only-2ab1",
        count: 1,
        forMs: 48_000,
        why: "calico uses no CPU on the network k8s-pod-network",
      },
    ],
    failures: Array.from({ length: 5 }, (_unused, index) => ({
      atMs: nowMs - 4_000 - index * 11_000,
      node: "rke2-agent1",
      namespace: "fc-desktop",
      pod: `rd-browser-only-${(index * 7919 + 4096).toString(16)}`,
      verb: "ADD",
      why: "calico: error getting ClusterInformation: connection is unauthorized",
    })),
  };
}

function outageReboots(nowMs: number): readonly RebootLine[] {
  return [
    {
      node: "rke2-agent1",
      sinceMs: nowMs - 19 * 86_400_000,
      verdict: "Deny",
      observedMs: nowMs - 12_000,
      reasons: [
        {
          code: "DecisionOpen",
          message: "The Decision recover-fc-desktop-1 is open",
          sinceMs: nowMs - 840_000,
          object: "Decision/recover-fc-desktop-1",
          remedy: "Approve or reject it: levee decisions show recover-fc-desktop-1",
        },
        {
          code: "PodBacklog",
          message: "219 pods on it have waited for their network for more than 5 min",
          sinceMs: nowMs - 16_500_000,
          object: "Node/rke2-agent1",
          remedy: "Wait until they have started, or remove them",
        },
      ],
    },
    {
      node: "rke2-agent2",
      sinceMs: nowMs - 4 * 86_400_000,
      verdict: "Deny",
      observedMs: nowMs - 12_000,
      reasons: [
        {
          code: "WaitsForTurn",
          message: "rke2-agent1 is before it",
          sinceMs: nowMs - 4 * 86_400_000,
          object: "Node/rke2-agent1",
          remedy: "Nothing: it has its turn when the other is done",
        },
      ],
    },
  ];
}

function outageNodes(nowMs: number): readonly NodeCell[] {
  return [
    {
      name: "rke2-agent1",
      state: "failed",
      why: ["The CNI daemon was killed for memory 412 times", "148 pods wait for their network"],
      isReady: true,
      adds: 131,
      dels: 2,
      pods: 148,
      slots: [10, 10],
      memory: [49.2 * mebibyte, 50 * mebibyte],
      kills: 412,
      leaks: 3,
      rebootMs: nowMs - 19 * 86_400_000,
      gate: "Deny",
      heardMs: nowMs - 900,
    },
    {
      name: "rke2-agent2",
      state: "busy",
      why: ["54 pods wait for their network"],
      isReady: true,
      adds: 52,
      dels: 2,
      pods: 54,
      slots: [6, 8],
      memory: [31 * mebibyte, 50 * mebibyte],
      kills: 261,
      rebootMs: nowMs - 4 * 86_400_000,
      gate: "Deny",
      heardMs: nowMs - 1_100,
    },
    {
      name: "rke2-server",
      state: "warning",
      why: ["Its daemon has not answered for 40 s"],
      isReady: true,
      pods: 17,
      kills: 276,
    },
  ];
}

/** Thousands of nodes, as on a wall. */
export function manyNodes(count: number, nowMs: number): readonly NodeCell[] {
  return Array.from({ length: count }, (_unused, index): NodeCell => {
    const dice = (index * 2_654_435_761) % 1_000;
    const name = `pool-${String.fromCodePoint(97 + (Math.floor(index / 700) % 8))}-${String(index % 700).padStart(4, "0")}`;
    const heard = {
      slots: [dice % 8, 8] as const,
      memory: [(20 + (dice % 25)) * mebibyte, 64 * mebibyte] as const,
      heardMs: nowMs,
    };
    if (dice < 6) return { name, state: "failed", why: ["The CNI daemon is not ready"], kills: 4, pods: 12 };
    if (dice < 30) return { name, state: "warning", why: ["2 leaks are older than a day"], leaks: 2, ...heard };
    if (dice < 110) return { name, state: "busy", why: ["9 pods wait for their network"], adds: 9, pods: 9, ...heard };
    if (dice < 125) return { name, state: "unknown", why: ["Its daemon has not answered yet"] };
    if (dice < 160) return { name, state: "ok", isReady: true, rebootMs: nowMs - 86_400_000, gate: "Allow", ...heard };
    return { name, state: "ok", isReady: true, ...heard };
  });
}

function stormPoints(nowMs: number): readonly StormPoint[] {
  return Array.from({ length: 720 }, (_unused, index) => {
    const share = Math.max(0, Math.min(1, (index - 180) / 260));
    const ease = share * share * (3 - 2 * share);
    const desktops = Math.round(219 * ease - (index > 560 ? (index - 560) * 0.5 : 0));
    const longhorn = Math.round(14 * ease);
    const traefik = Math.round(6 * ease);
    const waiting = desktops + longhorn + traefik + (index % 7 === 0 ? 1 : 0);
    return {
      atMs: nowMs - (720 - index) * 5_000,
      waiting,
      attached: 1_840 - Math.round(140 * ease),
      done: index > 560 ? 1 : 0,
      byNamespace: {
        "fc-desktop": desktops,
        "longhorn-system": longhorn,
        "traefik": traefik,
        "": waiting - desktops - longhorn - traefik,
      },
      byClass: [traefik, desktops + longhorn, Math.round(28 * ease), 4],
    };
  });
}

function outageCards(nowMs: number): readonly DecisionCard[] {
  const [stop, recover] = propose(outage(), defaultGuardSettings) as [Proposal, Proposal];
  return [cardOf(recover, nowMs), cardOf(stop, nowMs)];
}

function cardOf({ name, spec }: Proposal, nowMs: number): DecisionCard {
  return {
    name,
    cause: spec.cause,
    purpose: spec.purpose,
    phase: "Proposed",
    isOpen: true,
    needsPerson: true,
    message: "Waits for a person",
    summary: spec.summary,
    createdMs: nowMs - 840_000,
    sinceMs: nowMs - 840_000,
    planHash: spec.planHash,
    isIntact: true,
    evidence: spec.evidence.map(({ at, ...rest }) => ({ ...rest, atMs: Date.parse(at) })),
    chain: spec.chain,
    steps: spec.steps.map(({ id, action, title, kubectl, preconditions, check }): CardStep => ({
      id,
      action,
      title,
      facts: [],
      kubectl,
      preconditions,
      check: `${check.what}, within ${check.deadlineSeconds} s`,
      phase: "Waiting",
      message: "",
    })),
    notes: spec.notes,
    words: [],
    audit: [],
    verdicts: ["approve", "reject"],
    command: `levee decisions show ${name}`,
  };
}
