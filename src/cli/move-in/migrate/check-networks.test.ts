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

test.each(["ipvlan", "vlan"])("checkNetworks says that a program of %s keeps running, whichever it is", (type) => {
  const config = { plugins: [{ type, master: "eth0", ipam: { type: "static" } }, { type: "tuning" }] };
  expect(found(config).slice(1)).toMatchObject([
    { level: "look", object: "plugins tuning", what: expect.stringContaining("1.9.1 or 1.1.1") as string },
    {
      level: "look",
      object: `plugins ${type}`,
      what: expect.stringContaining("only on a node that has no program for them") as string,
      remedy: expect.stringContaining("builtinPlugins: off") as string,
    },
  ]);
});

test.each([
  [{ type: "sriov", ipam: { type: "whereabouts" } }],
  [{ type: "sriov", ipam: { type: "host-local" } }],
  [{ type: "macvlan", master: "eth0", ipam: { type: "dhcp" } }],
])("checkNetworks says nothing of built-in plugins about %j, which stays a program", (plugin) => {
  expect(found({ plugins: [plugin] })).toHaveLength(1);
});
