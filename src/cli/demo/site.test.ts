import { describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { installsConf } from "../../config/installs-conf.ts";
import { daemonConfig, demoSite, networkYaml, sitePaths, type SiteNetwork } from "./site.ts";

const site = demoSite(true);

function configOf(network: SiteNetwork): Record<string, unknown> {
  const { spec } = parse(networkYaml(site, network)) as { spec: { config: string } };
  return JSON.parse(spec.config) as Record<string, unknown>;
}

describe("demoSite", () => {
  test("keeps away from a real installation", () => {
    expect([site.runDir, site.stateDir]).toEqual(["/run/levee-demo", "/var/lib/levee-demo"]);
    expect(Object.values<string>({ ...sitePaths(site) }).every((path) => path.startsWith("/var/lib/levee-demo/"))).toBe(
      true,
    );
  });

  test("has interface names that Linux takes", () => {
    expect(site.networks.every(({ bridge }) => bridge.length <= 15)).toBe(true);
  });

  test("gives dmz both families, and IPv4 only where the kernel has no IPv6", () => {
    const families = (hasIpv6: boolean): unknown => demoSite(hasIpv6).networks[1]?.subnets.map(({ subnet }) => subnet);
    expect(families(true)).toEqual(["10.202.0.0/24", "fd00:202::/64"]);
    expect(families(false)).toEqual(["10.202.0.0/24"]);
  });
});

describe("daemonConfig", () => {
  test("is one the daemon takes, with every folder inside the site", () => {
    const config = parseDaemonConfig(daemonConfig(site, "/usr/lib/cni"), "daemon-config.json");
    expect(config).toMatchObject({
      socketDir: site.runDir,
      stateDir: site.stateDir,
      directory: sitePaths(site).directory,
    });
    expect(config.cniDir).toStartWith(`${site.stateDir}/`);
    expect(installsConf(config)).toBe(false);
  });
});

describe("networkYaml", () => {
  test("is a NetworkAttachmentDefinition in the pod's namespace", () => {
    const [lan] = site.networks;
    if (lan === undefined) throw new Error("no network");
    expect(parse(networkYaml(site, lan))).toMatchObject({
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "lan", namespace: "default" },
    });
  });

  test("changes nothing on the host: no gateway, no masquerade, addresses booked inside the site", () => {
    for (const network of site.networks) {
      expect(configOf(network)).toMatchObject({
        type: "bridge",
        isGateway: false,
        ipMasq: false,
        ipam: { dataDir: "/var/lib/levee-demo/ipam" },
      });
    }
  });

  test("only lan carries the default route", () => {
    const routes = site.networks.map((network) => (configOf(network)["ipam"] as { routes: unknown }).routes);
    expect(routes).toEqual([[{ dst: "0.0.0.0/0" }], []]);
  });
});
