import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  ClusterToSimulate,
  listedObjects,
  networkToSimulate,
} from "../../src/cli/sim/from-cluster/cluster-to-simulate.fixture.ts";
import { MetricsRegistry } from "../../src/daemon/metrics/metrics-registry.ts";
import { PluginMetrics } from "../../src/daemon/metrics/plugin-metrics.ts";

/** `levee sim --from-cluster` learns what plugins cost from the metrics that the daemon's own code prints. */
let cluster: ClusterToSimulate;

beforeEach(async () => {
  cluster = await ClusterToSimulate.start();
});
afterEach(async () => {
  await cluster.stop();
});

/** What a daemon prints that has run these plugins, by its own code. */
function daemonMetrics(
  ...runs: readonly (readonly [plugin: string, verb: string, cpuMs: number, wallMs?: number])[]
): string {
  const registry = new MetricsRegistry();
  const measures = new PluginMetrics(registry);
  for (const [type, verb, cpuMs, wallMs = 30] of runs) {
    const outcome = { exitCode: 0, timedOut: false, oomCgroup: 0, oomNode: 0, maxRssKib: 900 };
    measures.ran({
      verb,
      link: { type },
      outcome: { ...outcome, wallUs: 1_000 * wallMs, cpuUs: 1_000 * cpuMs },
    } as never);
  }
  return registry.render();
}

/** Where a node whose daemon tells these metrics breaks. */
async function breaks(metrics: string | undefined): Promise<number> {
  cluster.wish = {
    pods: { agent1: 20 },
    limits: { memory: "50Mi" },
    ...(metrics === undefined ? {} : { metrics }),
  };
  const { out } = await cluster.levee("--max-pods", "400", "-o", "json");
  const [only] = (JSON.parse(out) as { nodes: readonly { now: { breaks?: number } }[] }).nodes;
  return only?.now.breaks ?? Number.POSITIVE_INFINITY;
}

describe("levee sim --from-cluster", () => {
  test("takes what the plugins cost from what the daemons' own code tells, by the plugins of each network", async () => {
    cluster.wish = {
      pods: { agent1: 4 },
      networks: "lan,wan",
      metrics: daemonMetrics(
        ["bridge", "ADD", 20],
        ["bridge", "DEL", 10],
        ["macvlan", "ADD", 8],
        ["tuning", "ADD", 2],
        ["flannel", "ADD", 30],
      ),
      more: {
        "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions": listedObjects([
          networkToSimulate("lan", "bridge"),
          networkToSimulate("wan", "macvlan", "tuning"),
        ]),
      },
    };
    const { out } = await cluster.levee("--max-pods", "16");
    expect(out).toStartWith(
      "Every pod of a node at once, simulated; a run of a plugin costs 14 ms of CPU and waits 16 ms, by 5 runs on this cluster\n",
    );
    expect(out).not.toContain("Not known");
    // The default network has the plugin that no definition names: (30 + 15 + (8 + 2)) / 3, and (0 + 15 + (22 + 28)) / 3.
    expect(out).toContain(
      "2 networks per pod besides the default one, 2 critical pods, 18 ms of CPU and 22 ms of waiting per network\n",
    );
  }, 180_000);

  test("plugins that cost more break a node sooner", async () => {
    expect(await breaks(daemonMetrics(["bridge", "ADD", 900]))).toBeLessThan(await breaks(undefined));
  }, 180_000);

  test("plugins that wait longer without CPU, such as dhcp, break a node sooner", async () => {
    expect(await breaks(daemonMetrics(["dhcp", "ADD", 4, 1_500]))).toBeLessThan(
      await breaks(daemonMetrics(["dhcp", "ADD", 4, 5])),
    );
  }, 180_000);
});
