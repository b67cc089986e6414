import { expect, test } from "bun:test";
import type { IfName, JsonText, NetworkName } from "../base/brand.ts";
import type { Chain } from "./chain.ts";
import { asJsonText } from "./json-text.ts";
import { parseNetworkConf } from "./network-conf.ts";
import { pluginStdin } from "./plugin-stdin.ts";
import { withoutRequest } from "./without-request.ts";

const config = asJsonText(
  '{"cniVersion":"1.0.0","name":"lan","plugins":[{"type":"bridge","args":{"cni":{"a":1}},"capabilities":{"deviceID":true}},{"type":"tuning","mtu":1400},{"type":"tuning","mtu":1500.0,"capabilities":{"bandwidth":true}}]}',
  "a test",
);
const json = (text: string): JsonText => asJsonText(text, "a test");
const bandwidth = { bandwidth: json('{"ingressRate":1}') };

interface Asked {
  readonly runtimeConfig?: Readonly<Record<string, JsonText>>;
  readonly cniArgs?: Readonly<Record<string, JsonText>>;
  readonly deviceId?: string;
  readonly args?: string;
}

function chainOf({ runtimeConfig = {}, cniArgs, deviceId, args = "IgnoreUnknown=true" }: Asked): Chain {
  const conf = parseNetworkConf(config, { what: "a test" });
  const options = {
    name: conf.name,
    cniVersion: conf.cniVersion,
    runtimeConfig,
    ...(cniArgs === undefined ? {} : { cniArgs }),
    ...(deviceId === undefined ? {} : { deviceId }),
  };
  return {
    network: "default/lan" as NetworkName,
    confName: "lan",
    ifname: "net1" as IfName,
    cniVersion: "1.0.0",
    isDefault: false,
    cniArgs: args,
    links: conf.plugins.map((plugin) => ({ type: plugin.type, stdin: pluginStdin(plugin, options) })),
    disableCheck: false,
    disableGC: false,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: {
      config,
      isList: true,
      capabilityArgs: runtimeConfig,
      request: deviceId === undefined ? {} : { deviceId, resourceName: "vendor/vf" },
    },
  };
}

const plain = chainOf({});

test("withoutRequest is undefined for a chain without a pod's values", () => {
  expect(withoutRequest(plain)).toBeUndefined();
});

test("withoutRequest has the network's own bytes, its own args included", () => {
  const asked = chainOf({ runtimeConfig: bandwidth, cniArgs: { a: json("2"), b: json("[]") } });
  expect(asked.links).not.toEqual(plain.links);
  expect(withoutRequest(asked)?.links).toEqual(plain.links);
});

test("withoutRequest drops the address and the MAC of CNI_ARGS and nothing else", () => {
  const asked = chainOf({ args: "IgnoreUnknown=true;K8S_POD_NAME=web;MAC=02:00:00:00:00:01;IP=10.0.0.5,10.0.0.6" });
  expect(withoutRequest(asked)).toEqual({ ...asked, cniArgs: "IgnoreUnknown=true;K8S_POD_NAME=web" });
});

test("withoutRequest keeps the device that the node gave the pod", () => {
  const device = { deviceID: json('"0000:af:06.1"') };
  const asked = chainOf({ runtimeConfig: { ...device, ...bandwidth }, deviceId: "0000:af:06.1" });
  const kept = chainOf({ runtimeConfig: device, deviceId: "0000:af:06.1" });
  expect(withoutRequest(asked)?.links).toEqual(kept.links);
  expect(kept.links[0]?.stdin).toContain("0000:af:06.1");
});

test("withoutRequest finds the plugin of each link when some links are gone", () => {
  const asked = chainOf({ runtimeConfig: bandwidth });
  expect(withoutRequest({ ...asked, links: asked.links.slice(2) })?.links).toEqual(plain.links.slice(2));
});

test("withoutRequest is undefined for a configuration that cannot be read", () => {
  const asked = chainOf({ runtimeConfig: bandwidth });
  expect(withoutRequest({ ...asked, multus: { ...asked.multus, config: json("[]") } })).toBeUndefined();
});
