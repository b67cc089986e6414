import { expect, test } from "bun:test";
import type { IfName, Namespace, NetworkName } from "../../base/brand.ts";
import { planAttachments } from "../../attachment/plan.ts";
import { parseSelection } from "../../attachment/selection.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import { parseNetworkConf } from "../../cni/network-conf.ts";
import { ownValues } from "./own-values.ts";

const plugins = [
  { type: "bridge", capabilities: { mac: true, ips: true, deviceID: true }, args: { cni: { mtu: 9_000 } } },
  { type: "portmap", capabilities: { portMappings: true } },
  { type: "bandwidth", capabilities: { bandwidth: true } },
];

function source(resource?: { resourceName: string; deviceId: string }) {
  const text = asJsonText(JSON.stringify({ cniVersion: "1.0.0", name: "lan", plugins }), "a test");
  const conf = parseNetworkConf(text, { what: "a test" });
  return { network: "default/lan" as NetworkName, conf, ...(resource === undefined ? {} : { resource }) };
}

interface Options {
  readonly resource?: { resourceName: string; deviceId: string };
  readonly runtimeConfig?: Readonly<Record<string, string>>;
}

/** The chains of a pod with one network beside its default one. Both have the same plugins. */
function chainsOf(members: string, { resource, runtimeConfig = {} }: Options = {}): readonly Chain[] {
  const others = parseSelection(`[{"name":"lan"${members}}]`, "default" as Namespace).map((element) => ({
    element,
    source: source(resource),
  }));
  const texts = Object.entries(runtimeConfig).map(([name, text]) => [name, asJsonText(text, "a test")]);
  return planAttachments({
    request: { ifname: "eth0" as IfName, args: parseCniArgs("IgnoreUnknown=1") },
    defaultNetwork: source(),
    others,
    runtimeConfig: Object.fromEntries(texts),
  });
}

/** The plugins that got values of the pod's own. */
function pluginsWithValues(chain: Chain | undefined): readonly string[] {
  return (chain?.links ?? []).filter((link) => chain && ownValues(chain, link) !== "").map(({ type }) => type);
}

const all = plugins.map(({ type }) => type);

test.each([
  ["nothing", "", []],
  ["an interface name", ',"interface":"eth1"', []],
  ["a default route, which no plugin gets", ',"default-route":["10.0.0.1"]', []],
  ["bandwidth", ',"bandwidth":{"ingressRate":1}', ["bandwidth"]],
  ["ports", ',"portMappings":[{"hostPort":1,"containerPort":2}]', ["portmap"]],
  ["a MAC address", ',"mac":"02:00:00:00:00:01"', all],
  ["an address", ',"ips":["10.0.0.5"]', all],
  ["a device by its name", ',"deviceID":"0000:01:00.0"', all],
  ["arguments", ',"cni-args":{"a":1}', all],
  ["arguments that the network's plugin has itself", ',"cni-args":{"mtu":9000}', ["portmap", "bandwidth"]],
])("ownValues finds the plugins that got what only the pod asked for: %s", (_what, members, expected) => {
  expect(pluginsWithValues(chainsOf(members)[1])).toEqual(expected);
});

test("ownValues leaves out a device that the kubelet allocated", () => {
  const resource = { resourceName: "example.com/vf", deviceId: "0000:01:00.1" };
  expect(pluginsWithValues(chainsOf("", { resource })[1])).toEqual([]);
});

test("ownValues has the ports and bandwidth of the pod's spec, which the runtime gives to the default network", () => {
  const runtimeConfig = { bandwidth: '{"ingressRate":1}', dns: '{"servers":["10.0.0.10"]}' };
  expect(pluginsWithValues(chainsOf("", { runtimeConfig })[0])).toEqual(["bandwidth"]);
});

test("ownValues differs with the values", () => {
  const texts = [1, 2, 1].map((rate) => {
    const [, chain] = chainsOf(`,"bandwidth":{"ingressRate":${rate}}`);
    const link = chain?.links[2];
    return chain && link ? ownValues(chain, link) : "";
  });
  expect(texts[0]).not.toBe(texts[1]);
  expect(texts[0]).toBe(texts[2]);
});
