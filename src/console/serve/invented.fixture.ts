import type { DecisionCard } from "../../wire/console-decision.ts";
import type { StormPoint, StormView } from "../../wire/console-storm.ts";
import type { NodeCell } from "../../wire/console-view.ts";
import type { ConsoleDesk } from "./console-desk.ts";
import type { ConsoleParts } from "./console-feed.ts";
import type { Viewer, Viewers, ViewerWord } from "./viewer.ts";

const startMs = 1_800_000_000_000;

/** A cluster that does not exist, for tests of the server and for work on the page. */
export class InventedDesk implements ConsoleDesk {
  nowMs = startMs;
  cells: readonly NodeCell[];
  cards: readonly DecisionCard[] = [
    inventedCard("stop-shop-1"),
    { ...inventedCard("recover-shop-1"), purpose: "Recover" },
  ];
  points: StormPoint[] = [];

  constructor(nodes = 3) {
    this.cells = Array.from({ length: nodes }, (_, at) => inventedCell(at));
    for (let at = 720; at > 0; at -= 1) this.points.push(inventedPoint(startMs - at * 5_000, at));
  }

  parts(): ConsoleParts {
    return {
      asOfMs: this.nowMs,
      now: {
        state: "act",
        text: "2 Decisions wait for a person",
        reasons: [
          {
            state: "act",
            text: "stop-shop-1 waits for a person for 4 min",
            code: "Proposed",
            command: "levee decisions show stop-shop-1",
            part: "decisions",
          },
        ],
      },
      sources: [
        { name: "pods", state: "live", asOfMs: startMs, why: "" },
        { name: "alerts", state: "stale", asOfMs: startMs - 90_000, why: "Alertmanager does not answer" },
      ],
      nodes: this.cells,
      storm: this.#storm(),
      networks: [
        {
          name: "shop/vlan42",
          plugins: ["bridge", "tuning"],
          state: "failed",
          ready: 2,
          nodes: 3,
          pods: 219,
          waiting: 180,
          why: ["k8s-node3: the bridge br42 does not exist"],
        },
      ],
      plugins: [{ plugin: "bridge", verb: "ADD", runs: 900, failed: 12, p50Ms: 80, p99Ms: 900 }],
      decisions: this.cards,
      alerts: { firing: 45, explained: 41, why: "", names: [{ name: "KubePodNotReady", firing: 39, explained: 39 }] },
      reboots: [
        {
          node: "k8s-node2",
          sinceMs: startMs - 86_400_000,
          verdict: "Deny",
          observedMs: startMs - 5_000,
          exceptions: [{ by: "bob", reason: "the offsite mount", untilMs: startMs + 3_600_000 }],
          reasons: [
            {
              code: "FiringAlert",
              message: "NodeFilesystemFull fires",
              sinceMs: startMs - 3_600_000,
              object: "Alert/NodeFilesystemFull",
              remedy: "free space",
            },
          ],
        },
      ],
    };
  }

  pods(match: string): ReturnType<ConsoleDesk["pods"]> {
    const pods = [{ namespace: "shop", pod: "web-1", node: "k8s-node1", state: "waiting" as const }];
    return { pods: pods.filter(({ pod }) => pod.includes(match)), more: 0 };
  }

  pod(namespace: string, name: string): ReturnType<ConsoleDesk["pod"]> {
    if (name !== "web-1") return Promise.resolve(undefined);
    const atMs = startMs - 60_000;
    const ran = { what: "ran", verb: "ADD", isFailure: false };
    return Promise.resolve({
      namespace,
      pod: name,
      node: "k8s-node1",
      state: "attached",
      sinceMs: atMs,
      reason: "",
      source: "daemon",
      why: "",
      entries: [
        { atMs, what: "asked", text: "The runtime asked", isFailure: false, verb: "ADD" },
        { ...ran, atMs: atMs + 900, text: "bridge ran", plugin: "bridge", network: "shop/vlan42", tookMs: 700 },
        { ...ran, atMs: atMs + 1_000, text: "tuning ran", plugin: "tuning", network: "shop/vlan42", tookMs: 60 },
      ],
      omitted: 0,
      networks: [{ network: "shop/vlan42", ifname: "net1", ips: ["10.42.0.7/24"], mac: "02:00:00:00:00:07" }],
      notices: [],
      command: `levee why ${namespace}/${name}`,
    });
  }

  network(name: string): ReturnType<ConsoleDesk["network"]> {
    const line = this.parts().networks.find((one) => one.name === name);
    if (line === undefined) return undefined;
    const nodes = [{ node: "k8s-node3", state: "not-ready", why: "the bridge br42 does not exist" }];
    const addresses = { total: 254, used: 219 };
    const { pods } = this.pods("");
    const config = '{"cniVersion":"1.0.0","type":"bridge"}';
    return {
      line,
      nodes,
      pods,
      podsTotal: 219,
      addresses,
      addressesWhy: "",
      config,
      command: "levee check node --all",
    };
  }

  node(name: string): ReturnType<ConsoleDesk["node"]> {
    const cell = this.cells.find((one) => one.name === name);
    if (cell === undefined) return Promise.resolve(undefined);
    const checks = [{ name: "journal", state: "ok" as const, detail: "", hint: "" }];
    const command = `levee check node ${name}`;
    return Promise.resolve({ cell, software: "levee 0.1.0", checks, networks: [], notices: [], command });
  }

  explain(code: string): ReturnType<ConsoleDesk["explain"]> {
    if (code.toLowerCase() === "nothing") return undefined;
    return { name: code, title: "invented", text: "## What it means\n\nNothing.\n\n## What to do\n\nNothing." };
  }

  history(): ReturnType<ConsoleDesk["history"]> {
    return Promise.resolve(undefined);
  }

  #storm(): StormView {
    return {
      spanMs: 3_600_000,
      stepMs: 5_000,
      namespaces: ["shop", "infra", ""],
      points: this.points,
      liveSinceMs: startMs - 1_800_000,
      classes: [{ class: "ordinary", waiting: 180, running: 8, oldestWaitMs: 42_000 }],
      waiting: [{ namespace: "shop", pod: "web-1", node: "k8s-node1", sinceMs: startMs - 42_000 }],
      held: [{ node: "k8s-node3", kind: "network", name: "shop/vlan42", count: 12, forMs: 60_000, why: "exit 1" }],
      failures: [],
    };
  }
}

export class InventedViewers implements Viewers {
  readonly words: ViewerWord[] = [];
  /** Thrown for the next requests, as long as it is set. */
  refusal: Error | undefined;

  of(): Promise<Viewer> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    return Promise.resolve({
      view: {
        name: "alice",
        mode: "kubeconfig",
        place: "https://cluster.example:6443",
        namespace: "levee-system",
        mayDecide: "yes",
        why: "",
      },
      say: (word) => {
        this.words.push(word);
        return Promise.resolve({ approval: `${word.decision}-x7`, by: "alice", text: `${word.verdict} was said` });
      },
    });
  }
}

function inventedCell(at: number): NodeCell {
  const name = `k8s-node${at + 1}`;
  const usual: NodeCell = { name, state: "ok", isReady: true, slots: [at % 8, 16], memory: [30_000_000, 52_428_800] };
  if (at % 97 === 1) return { ...usual, state: "warning", why: ["a reboot is due"], rebootMs: 1_799_900_000_000 };
  if (at % 211 === 2) return { ...usual, state: "busy", adds: 120, dels: 3, pods: 130, why: ["120 ADDs wait"] };
  return usual;
}

function inventedPoint(atMs: number, at: number): StormPoint {
  const waiting = Math.max(0, Math.round(200 * Math.sin(at / 60)));
  const point = { atMs, waiting, attached: 900 - waiting, done: waiting % 7 };
  return waiting === 0 ? point : { ...point, byNamespace: { shop: waiting }, byClass: [0, waiting, 0, 0] };
}

function inventedCard(name: string): DecisionCard {
  return {
    name,
    cause: "OwnerlessPodAvalanche",
    purpose: "StopSource",
    phase: "Proposed",
    isOpen: true,
    needsPerson: true,
    message: "Waits for a person",
    summary: "219 ownerless pods of one template in shop do not start",
    createdMs: 1_799_999_760_000,
    sinceMs: 1_799_999_760_000,
    planHash: `sha256:${"0a".repeat(32)}`,
    isIntact: true,
    evidence: [{ fact: "ownerless pods that do not start", value: 219, atMs: 1_799_999_760_000, detail: "" }],
    chain: [
      {
        cause: "219 ownerless pods of one template in shop do not start",
        effect: "the CNI daemon kube-system/kube-multus-ds was killed for memory",
        rule: "BacklogKillsDaemon",
        why: "every pod that starts costs the daemon memory",
      },
    ],
    steps: [
      {
        id: 1,
        action: "StopSource",
        title: "Make shop refuse new ownerless pods",
        facts: ["sets levee.dev/ownerless-pods=deny on the namespace shop"],
        kubectl: ["kubectl label namespace shop levee.dev/ownerless-pods=deny"],
        preconditions: ["the namespace exists"],
        check: "the label is set (within 30 s)",
        phase: "Waiting",
        message: "",
      },
    ],
    notes: ["Pods with an owner are not touched"],
    words: [],
    audit: [],
    verdicts: ["approve", "reject"],
    command: `levee decisions show ${name}`,
  };
}
