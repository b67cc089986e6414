import { describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import type { AttachmentView, ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import type { TopAnswer } from "../../wire/top-view.ts";
import { NodeDesk } from "./node-desk.ts";

const top: TopAnswer = {
  ...{ nodeName: "here", software: "levee 1", wallMs: 1, monotonicMs: 1, startedWallMs: 1, attachments: 40, leaks: 0 },
  quarantined: 0,
  classes: [
    { class: "ordinary", running: 8, waiting: 100, oldestWaitMs: 2_000 },
    { class: "detach", running: 0, waiting: 3, oldestWaitMs: 10 },
  ],
  slots: { attaching: 8, limit: 8, ceiling: 16, detaching: 0, detachLimit: 4, detachCeiling: 4, hung: 0, why: "" },
  flows: [{ namespace: "storm", waiting: 100 }],
  heldPods: 2,
  hung: [{ namespace: "storm", pod: "p9", network: "lan", plugin: "bridge", forMs: 900 }],
  openNetworks: [{ network: "dmz", forMs: 5, failures: 7, reason: "exit 1", nextProbeMs: 0 }],
  delegates: [{ plugin: "bridge", verb: "ADD", runs: 50, failed: 1, p50Ms: 40, p99Ms: 90, maxRssKib: 1 }],
  memory: { state: "free", usageBytes: 30, limitBytes: 50, delegateBytes: 0 },
  pressure: {},
  failures: [{ wallMs: 5, namespace: "storm", pod: "p1", verb: "ADD", reason: "no bridge" }],
  totals: { asked: 200, attached: 40, detached: 0, failed: 1, delegates: 50 },
  notices: [],
};
const attachment = (pod: string, phase: AttachmentView["phase"]): AttachmentView => ({
  ...{ namespace: "storm", pod, uid: "", containerId: pod, netns: "", phase, sinceWallMs: 7 },
  networks: [{ network: "lan", ifname: "net1", isDefault: false, plugins: ["bridge"], ips: [], mac: "" }],
});
const checks: ChecksAnswer = {
  ...{ nodeName: "here", isReady: true, checks: [], networksTotal: 1, shimSoftware: "" },
  networks: [{ network: "lan", state: "ready", reasons: [] }],
};

class FakeDaemon {
  isAway = false;

  #say<T>(answer: T): Promise<T> {
    return this.isAway ? Promise.reject(new Error("no process listens")) : Promise.resolve(answer);
  }

  top = (): Promise<TopAnswer> => this.#say(top);
  checks = (): Promise<ChecksAnswer> => this.#say(checks);
  node = (): Promise<NodeAnswer> => this.#say({ software: "levee 1", notices: ["a note"] } as unknown as NodeAnswer); // all it reads
  attachments = (): Promise<readonly AttachmentView[]> =>
    this.#say([attachment("p1", "attached"), attachment("p2", "attaching")]);
}

async function setUp(): Promise<{ desk: NodeDesk; daemon: FakeDaemon; ring: () => Promise<void> }> {
  const daemon = new FakeDaemon();
  let wake: () => void = () => undefined;
  const sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      wake = resolve;
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  const clock = { ...systemClock, sleep };
  const desk = new NodeDesk({ clock, daemon, story: () => Promise.resolve(undefined), explain: () => undefined });
  desk.start();
  await Bun.sleep(5);
  const ring = async (): Promise<void> => {
    wake();
    await Bun.sleep(5);
  };
  return { desk, daemon, ring };
}

describe("NodeDesk", () => {
  test("shows this machine's daemon: its slots, its line, and who is held back", async () => {
    const { desk } = await setUp();
    const { nodes, storm, networks, plugins, sources, now, decisions } = desk.parts();
    expect(nodes).toMatchObject([{ name: "here", adds: 100, dels: 3, slots: [8, 12], memory: [30, 50] }]);
    expect(storm.points).toMatchObject([{ waiting: 108, attached: 40, byNamespace: { "storm": 100, "": 8 } }]);
    expect(storm.stepMs).toBe(1_000);
    expect(storm.held.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["hung storm/p9", "network dmz", "pods "]);
    expect(storm.waiting).toMatchObject([{ pod: "p2" }]);
    expect(networks).toMatchObject([{ name: "lan", state: "ok", pods: 2, waiting: 1, plugins: ["bridge"] }]);
    expect(plugins[0]).toMatchObject({ plugin: "bridge", p99Ms: 90 });
    expect(sources).toMatchObject([{ name: "daemon", state: "live" }]);
    expect(now.state).toBe("watch");
    expect(decisions).toEqual([]);
    expect(desk.pods("P1").pods).toMatchObject([{ pod: "p1", state: "attached" }]);
    expect(desk.network("lan")).toMatchObject({ podsTotal: 2 });
    expect(await desk.node("here")).toMatchObject({ software: "levee 1", notices: ["a note"] });
    expect(await desk.node("other")).toBeUndefined();
    await desk.close();
  });

  test("keeps the last facts of a daemon that went away, and says since when", async () => {
    const { desk, daemon, ring } = await setUp();
    daemon.isAway = true;
    await ring();
    const { sources, nodes } = desk.parts();
    expect(sources).toMatchObject([{ state: "stale", why: "no process listens" }]);
    expect(nodes[0]).toMatchObject({ adds: 100 });
    expect(nodes[0]?.why).toContain("no process listens");
    daemon.isAway = false;
    await ring();
    expect(desk.parts().sources[0]?.state).toBe("live");
    await desk.close();
  });
});
