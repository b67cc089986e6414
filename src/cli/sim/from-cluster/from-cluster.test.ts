import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../../base/clock.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";
import {
  ClusterToSimulate,
  clusterDaemonSet,
  listedObjects,
  clusterNode,
  podsOn,
} from "./cluster-to-simulate.fixture.ts";

let cluster: ClusterToSimulate;

beforeEach(async () => {
  cluster = await ClusterToSimulate.start();
});
afterEach(async () => {
  await cluster.stop();
});

/** So many times as much time passes for the command. */
function slowClock(times: number): Clock {
  const beganMs = systemClock.monotonicMs();
  const slow = { monotonicMs: () => beganMs + times * (systemClock.monotonicMs() - beganMs) };
  return Object.assign(Object.create(systemClock) as Clock, slow);
}

interface NodeValue {
  readonly name: string;
  readonly room: number;
  readonly cores: number;
  readonly chain?: { readonly cpuMs: number; readonly waitMs: number };
  readonly networksMix: readonly number[];
  readonly daemon: { readonly impl: string; readonly limitBytes: number; readonly cpuMillis?: number };
  readonly now: { readonly holds: number; readonly breaks?: number; readonly why: string };
}

/** Small, so quick: what was read of the nodes is asked for, and not where they break. */
async function nodesRead(): Promise<readonly NodeValue[]> {
  const { out } = await cluster.levee("--max-pods", "16", "-o", "json");
  return (JSON.parse(out) as { nodes: readonly NodeValue[] }).nodes;
}

describe("levee sim --from-cluster", () => {
  test("says of each node what it holds, where it breaks with Levee and with Multus, and which limit is enough", async () => {
    cluster.wish = {};
    const { status, out, err } = await cluster.levee("--max-pods", "200");
    expect(err).not.toContain("Error");
    expect(out).toStartWith("Every pod of a node at once, simulated; plugins cost what they do in the model\n");
    expect(out).toMatch(
      /✓ node agent1 holds 60 pods at once; it does not break up to 200; with Multus at 50Mi and 100m of CPU it would break at \d+; the limit for 60 is \d+Mi; 140 pods from the next outage\n {2}Levee at 50Mi, 2 cores, 1 network per pod besides the default one, 2 critical pods\n/u,
    );
    expect(out).toContain("‼ Not known: what plugins cost: no daemon told");
    expect(status).toBe(0);
    expect([...new Set(cluster.methods)]).toEqual(["GET"]);
  }, 180_000);

  test("says where a node with Levee breaks, and why", async () => {
    cluster.wish = { limits: { memory: "50Mi", cpu: "15m" }, pods: { agent1: 20 } };
    const { out, status } = await cluster.levee("--max-pods", "300");
    expect(out).toMatch(
      /✓ node agent1 holds 20 pods at once; it breaks at \d+ because \d+ critical pods? waited longer than 3s, the longest [\d.]+s; with Multus at 50Mi and 100m of CPU it would break at \d+; the limit for 20 is \d+Mi; \d+ pods from the next outage\n/u,
    );
    expect(status).toBe(0);
  }, 180_000);

  test("compares a node with Levee to Multus as it is shipped, whatever the limits of its Levee are", async () => {
    const withMultus = async (limits: Readonly<Record<string, string>>): Promise<unknown> => {
      cluster.wish = { limits, pods: { agent1: 8 } };
      const { out } = await cluster.levee("--max-pods", "60", "-o", "json");
      return (JSON.parse(out) as { nodes: readonly { withMultus: unknown }[] }).nodes[0]?.withMultus;
    };
    const small = await withMultus({ memory: "32Mi", cpu: "25m" });
    expect(await withMultus({ memory: "512Mi" })).toEqual(small);
    const { out } = await cluster.levee("--max-pods", "60");
    expect(out).toMatch(/; with Multus at 50Mi and 100m of CPU it would break at \d+;/u);
    expect(out).toContain("  Levee at 512Mi, 2 cores");
  }, 180_000);

  test("a cluster with Multus as it is shipped does not hold its own pods, and ends with 1", async () => {
    cluster.wish = { limits: { memory: "50Mi", cpu: "100m" }, image: "example.test/multus:v4.2.2" };
    const { status, out, err } = await cluster.levee("--max-pods", "100");
    expect(out).toMatch(/× node agent1 does not hold its 60 pods at once, only \d+; it breaks at \d+ because .*/u);
    expect(out).toMatch(/; with Levee the limit for 60 is \d+Mi; the next storm is the next outage\n/u);
    expect(err).toContain("nodes do not hold their own pods at once (storm-broke)");
    expect(status).toBe(1);
  }, 180_000);
});

describe("levee sim --from-cluster reads", () => {
  test("each node's cores, and pods with their own number of networks", async () => {
    cluster.wish = {
      more: {
        "/api/v1/nodes": listedObjects([
          clusterNode("agent1", "8"),
          clusterNode("agent2", "3920m"),
          { metadata: { name: "agent3" } },
        ]),
        "/api/v1/pods": listedObjects([
          ...podsOn("agent1", 2, '[{"name": "lan"}, {"name": "wan", "namespace": "net"}, {"name": "lan"}]'),
          ...podsOn("agent1", 1, ""),
          ...podsOn("agent2", 1, "[broken"),
        ]),
      },
    };
    const nodes = await nodesRead();
    expect(nodes.map(({ cores }) => cores)).toEqual([8, 3.92, undefined as never]);
    expect(nodes.map(({ networksMix }) => networksMix)).toEqual([[3, 3, 0], [0], []]);
    expect((await cluster.levee("--max-pods", "16")).out).toContain("Not known: the cores of agent3: as in the model");
  }, 180_000);

  test("every DaemonSet that is Levee or Multus: each node has the limits of the one that is there", async () => {
    const multus = (name: string, memory: string, arch: string): unknown =>
      clusterDaemonSet({
        name,
        image: `example.test/multus:v4.${name === "old" ? "2.2" : "3.0"}`,
        limits: { memory },
        nodeSelector: { arch },
      });
    const daemonPod = (nodeName: string, owner: string): unknown => ({
      metadata: { namespace: "kube-system", name: nodeName, ownerReferences: [{ kind: "DaemonSet", name: owner }] },
      spec: { nodeName, hostNetwork: true },
      status: { phase: "Running" },
    });
    cluster.wish = {
      more: {
        "/api/v1/nodes": listedObjects([
          clusterNode("a", "2", { arch: "amd64" }),
          clusterNode("b", "2", { arch: "arm64" }),
          clusterNode("c", "2", { arch: "amd64" }),
          clusterNode("d", "2", { arch: "s390x" }),
        ]),
        "/api/v1/pods": listedObjects([daemonPod("c", "cni"), daemonPod("c", "old")]),
        "/apis/apps/v1/daemonsets": listedObjects([
          multus("old", "100Mi", "amd64"),
          multus("new", "200Mi", "arm64"),
          clusterDaemonSet({
            name: "cni",
            image: "levee",
            limits: { memory: "64Mi", cpu: "100m" },
            nodeSelector: { "to-move": "yes" },
          }),
          { metadata: { namespace: "web", name: "proxy" }, spec: { selector: {}, template: {} }, status: {} },
        ]),
      },
    };
    const nodes = await nodesRead();
    expect(nodes.map(({ daemon: { impl, limitBytes } }) => `${impl} ${limitBytes / 1024 ** 2}`)).toEqual([
      "multus-4.2.2 100",
      "multus-4.3.0 200",
      "levee 64",
      "multus-4.2.2 16384",
    ]);
    const { out } = await cluster.levee("--max-pods", "16");
    expect(out).toContain("Not known: the daemon of d: no DaemonSet of Levee or Multus is for it; no limit is known");
  }, 180_000);
});

describe("levee sim --from-cluster", () => {
  test("Ctrl-C ends it with the nodes that are done, and 130", async () => {
    cluster.wish = { pods: { agent1: 3, agent2: 300 } };
    const shell = fakeShell({ argv: cluster.argvOf("--max-pods", "16"), isRoot: false, clock: slowClock(2_000) });
    const stop = systemClock.every(20, () => {
      if (cluster.methods.length > 4 && shell.stderr.text.includes("agent2")) shell.interrupt();
    });
    // The first node is done when the second one's first storm is shown.
    const status = await runCli(shell);
    stop();
    expect(status).toBe(130);
    expect(shell.stdout.text).toContain("node agent1 holds 3 pods at once");
    expect(shell.stdout.text).not.toContain("node agent2");
    expect(shell.stderr.text).toContain("Interrupted after 1 of 2 nodes");
  }, 180_000);

  test("shows what it does when that takes longer than two seconds, also within one storm", async () => {
    cluster.wish = { pods: { agent1: 40 } };
    const shell = fakeShell({ argv: cluster.argvOf("--max-pods", "40"), isRoot: false, clock: slowClock(2_000) });
    expect(await runCli(shell)).toBe(0);
    const lines = shell.stderr.text
      .split("\n")
      .filter((line) => line.startsWith("Simulating 40 pods at 50 MiB with levee"));
    // Ten seconds lie between two lines, so one storm has shown several.
    expect(lines.length).toBeGreaterThan(2);
    expect(lines[0]).toMatch(/^Simulating 40 pods at 50 MiB with levee on agent1 \(\d+ s\)$/u);
  }, 180_000);

  test("a cluster that cannot be reached is said to be so", async () => {
    const shell = fakeShell({ argv: cluster.argvAt("http://127.0.0.1:1") });
    expect(await runCli(shell)).toBe(3);
    expect(shell.stderr.text).toContain("Cannot read the nodes of the cluster");
  }, 60_000);
});
