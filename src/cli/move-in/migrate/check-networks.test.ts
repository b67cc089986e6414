import { expect, test } from "bun:test";
import { checkNetworks } from "./check-networks.ts";
import type { Finding } from "./finding.ts";

function levels(config: object, annotations: Readonly<Record<string, string>> = {}): readonly string[] {
  return found(config, annotations)
    .filter(({ object }) => !object.startsWith("plugins"))
    .map(({ level, what }) => `${level}: ${what}`);
}

function found(config: object, annotations: Readonly<Record<string, string>> = {}): readonly Finding[] {
  const metadata = { name: "lan", namespace: "vms", annotations };
  const spec = { config: JSON.stringify({ cniVersion: "1.0.0", ...config }) };
  const object = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec };
  return checkNetworks([object]).findings;
}

test.each([
  [{ type: "bridge", bridge: "br0" }],
  [{ type: "cnv-bridge", bridge: "br0" }],
  [{ plugins: [{ type: "tuning" }, { type: "bridge", isGateway: false }] }],
])("checkNetworks says of %j that its pods wait for the bridge's uplink", (config) => {
  expect(levels(config)).toEqual([
    expect.stringContaining("differs: its pods wait on nodes where its bridge") as string,
  ]);
});

test.each([
  [{ type: "bridge", isGateway: true }, {}],
  [{ type: "bridge", ipMasq: true }, {}],
  [{ type: "macvlan", master: "eth0" }, {}],
  [{ type: "bridge" }, { "levee.dev/uplink": "none" }],
  [{ type: "bridge" }, { "levee.dev/uplink-vlan": "57" }],
])("checkNetworks finds nothing to say about %j with %j", (config, annotations) => {
  expect(levels(config, annotations)).toEqual(["ok: used as it is"]);
});

test.each([
  [{ type: "bridge", ipam: { type: "host-local" } }, "plugins bridge, host-local"],
  [{ plugins: [{ type: "ptp", ipam: { type: "static" } }, { type: "portmap" }] }, "plugins ptp, static"],
  [{ plugins: [{ type: "macvlan", master: "eth0" }, { type: "tuning" }] }, "plugins macvlan, tuning"],
])("checkNetworks names the plugins of %j that are built in: %s", (config, object) => {
  const [finding, ...others] = found(config).filter((one) => one.object.startsWith("plugins"));
  expect([finding, others]).toMatchObject([{ level: "look", object }, []]);
  expect(finding?.what).toContain("1.9.1 or 1.1.1");
});

test("checkNetworks says nothing of built-in plugins where a cluster uses none of them", () => {
  expect(found({ plugins: [{ type: "sriov", ipam: { type: "whereabouts" } }] })).toHaveLength(1);
});
