import { describe, expect, test } from "bun:test";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { installsConf } from "../../config/installs-conf.ts";
import { stormDaemonConfig, networkConf, podManifest } from "./manifests.ts";
import { readPlan, stormDefaults } from "./plan.ts";
import { ownNetworks, site, stormPaths, stormPods } from "./site.ts";

const plan = readPlan(stormDefaults);
const paths = stormPaths("/site");

describe("ownNetworks", () => {
  test("are two for a usual node, and two more for every 900 pods: a bridge takes 1,024 ports", () => {
    expect(ownNetworks(plan)).toHaveLength(1);
    const many = ownNetworks({ ...plan, pods: 2000 }).flat();
    expect(many.map(({ name }) => name)).toEqual(["lan0", "dmz0", "lan1", "dmz1", "lan2", "dmz2"]);
    expect(new Set(many.map(({ subnet }) => subnet)).size).toBe(6);
  });

  test("have names that Linux takes and subnets that exist, up to the most pods", () => {
    for (const { bridge, subnet } of ownNetworks({ ...plan, pods: 9000 }).flat()) {
      expect(bridge.length).toBeLessThanOrEqual(15);
      expect(Number(subnet.split(".")[2])).toBeLessThanOrEqual(252);
    }
  });

  test("change nothing on the host: no gateway, no masquerade, addresses booked inside the site", () => {
    for (const network of ownNetworks(plan).flat())
      expect(JSON.parse(networkConf(network, paths))).toMatchObject({
        isGateway: false,
        ipMasq: false,
        ipam: { dataDir: "/site/levee-storm/ipam" },
      });
  });
});

describe("stormPods", () => {
  test("are of two namespaces, and only the second can be critical", () => {
    const { burst, second } = stormPods({ ...plan, second: { ...plan.second, isCritical: true } });
    expect([burst.length, second.length]).toEqual([219, 6]);
    expect(new Set(burst.map(({ priority }) => priority))).toEqual(new Set([undefined]));
    expect(JSON.parse(podManifest(second[0]!))).toMatchObject({
      metadata: { namespace: site.namespaces.second, uid: "bystanders-0" },
      spec: { priority: 2_000_001_000 },
    });
  });

  test("beyond 900 name another bridge's networks", () => {
    const { burst } = stormPods({ ...plan, pods: 1000 });
    expect(burst[0]?.annotations).toEqual({ "k8s.v1.cni.cncf.io/networks": "levee-storm/dmz0" });
    expect(burst.at(-1)?.annotations).toEqual({
      "k8s.v1.cni.cncf.io/networks": "levee-storm/dmz1",
      "v1.multus-cni.io/default-network": "levee-storm/lan1",
    });
  });

  test("of a site's own networks ask for all but the first, which they have by default", () => {
    const own = stormPods({ ...plan, delegates: ["/a", "/b", "/c"] }).burst[0]?.annotations;
    expect(own).toEqual({ "k8s.v1.cni.cncf.io/networks": "levee-storm/site1,levee-storm/site2" });
    expect(stormPods({ ...plan, delegates: ["/a"] }).burst[0]?.annotations).toEqual({});
  });
});

describe("stormDaemonConfig", () => {
  test("is one the daemon takes, and it installs no conf on this machine", () => {
    const config = parseDaemonConfig(stormDaemonConfig(paths, "lan0", "/usr/lib/cni"), "daemon-config.json");
    expect(config).toMatchObject({ socketDir: site.runDir, stateDir: paths.journal, directory: paths.directory });
    expect(installsConf(config)).toBe(false);
  });
});
