import { expect, test } from "bun:test";
import { checkNetworks } from "./check-networks.ts";

function levels(config: object, annotations: Readonly<Record<string, string>> = {}): readonly string[] {
  const metadata = { name: "lan", namespace: "vms", annotations };
  const spec = { config: JSON.stringify({ cniVersion: "1.0.0", ...config }) };
  const object = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec };
  return checkNetworks([object]).findings.map(({ level, what }) => `${level}: ${what}`);
}

test.each([
  [{ type: "bridge", bridge: "br0" }],
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
