import { describe, expect, test } from "bun:test";
import type { ContainerId, IfName, JsonText, Namespace, NetworkName } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { Chain } from "../cni/chain.ts";
import { parseCniArgs } from "../cni/cni-args.ts";
import { asJsonText } from "../cni/json-text.ts";
import { parseNetworkConf } from "../cni/network-conf.ts";
import { type NetworkSource, planAttachments, type PlanInput, type WantedNetwork } from "./plan.ts";
import { parseSelection, type SelectionElement } from "./selection.ts";

const pod = "web" as Namespace;

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

function source(network: string, conf: string, more: Partial<NetworkSource> = {}): NetworkSource {
  return {
    network: network as NetworkName,
    conf: parseNetworkConf(json(conf), { what: network, defaultName: "unnamed" }),
    ...more,
  };
}

function element(text: string): SelectionElement {
  const [only] = parseSelection(text, pod);
  if (only === undefined) throw new Error("no element");
  return only;
}

const primary = source(
  "cbr0",
  '{"name":"cbr0","cniVersion":"0.3.1","plugins":[{"type":"bridge","mtu":1500.0},{"type":"portmap","capabilities":{"portMappings":true}}]}',
);
const lan = source(
  "web/lan",
  '{"name":"lan","cniVersion":"1.0.0","type":"macvlan","capabilities":{"ips":true,"mac":true}}',
);
const dmz = source("web/dmz", '{"name":"dmz","cniVersion":"1.0.0","type":"ipvlan"}');

const base: PlanInput = {
  request: {
    ifname: "eth0" as IfName,
    args: parseCniArgs("IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=a;K8S_POD_UID=u;X=1;IP=10.9.9.9"),
  },
  defaultNetwork: primary,
  others: [],
  runtimeConfig: { portMappings: json('[{"hostPort":80 }]'), dns: json("{}") },
};

function plan(others: readonly WantedNetwork[], more: Partial<PlanInput> = {}): readonly Chain[] {
  return planAttachments({ ...base, others, ...more });
}

function refusal(attempt: () => unknown): LeveeError {
  try {
    attempt();
  } catch (thrown) {
    if (thrown instanceof LeveeError) return thrown;
    throw thrown;
  }
  throw new Error("accepted");
}

function stdinOf(chain: Chain | undefined, link = 0): Record<string, unknown> {
  return JSON.parse(chain?.links[link]?.stdin ?? "null") as Record<string, unknown>; // a plugin's stdin is an object
}

describe("planAttachments of the default network", () => {
  const [chain] = plan([]);

  test("runs its plugins in order with the runtime's interface name", () => {
    expect(chain).toMatchObject({
      network: "cbr0",
      confName: "cbr0",
      ifname: "eth0",
      cniVersion: "0.3.1",
      isDefault: true,
    });
    expect(chain?.links.map((link) => link.type) as string[]).toEqual(["bridge", "portmap"]);
    expect(String(chain?.links[0]?.stdin)).toBe('{"type":"bridge","mtu":1500.0,"name":"cbr0","cniVersion":"0.3.1"}');
  });

  test("gives the runtime's values to plugins that declare them, byte for byte", () => {
    expect(String(chain?.links[1]?.stdin)).toBe(
      '{"type":"portmap","name":"cbr0","cniVersion":"0.3.1","runtimeConfig":{"portMappings":[{"hostPort":80 }]}}',
    );
    expect(chain?.multus.capabilityArgs as object).toEqual({ portMappings: '[{"hostPort":80 }]' });
  });

  test("gets the runtime's arguments, its address included", () => {
    expect(chain?.cniArgs).toBe(
      "IgnoreUnknown=true;K8S_POD_NAMESPACE=web;K8S_POD_NAME=a;K8S_POD_INFRA_CONTAINER_ID=;K8S_POD_UID=u;X=1;IP=10.9.9.9",
    );
  });

  test("takes address and MAC of its element as arguments, not as runtimeConfig", () => {
    const defaultElement = element(
      '[{"name":"lan","ips":["10.0.0.5/24"],"mac":"02:00:00:00:00:05","interface":"lan0"}]',
    );
    const [chosen] = plan([], { defaultNetwork: lan, defaultElement, runtimeConfig: {} });
    expect(chosen?.cniArgs).toEndWith(";X=1;IP=10.9.9.9;MAC=02:00:00:00:00:05;IP=10.0.0.5/24");
    expect(stdinOf(chosen)["runtimeConfig"]).toBeUndefined();
    expect(chosen).toMatchObject({
      ifname: "lan0",
      isDefault: true,
      multus: { request: { ifname: "lan0", mac: "02:00:00:00:00:05", ips: ["10.0.0.5/24"] } },
    });
  });

  test("does not fail for what its element asks and only the runtime can give", () => {
    const defaultElement = element('[{"name":"dmz","mac":"02:00:00:00:00:05"}]');
    expect(plan([], { defaultNetwork: dmz, defaultElement })).toHaveLength(1);
  });
});

describe("planAttachments of further networks", () => {
  test("numbers interfaces by place in the whole list", () => {
    const chains = plan([
      { element: element("lan@macvlan1"), source: lan },
      { source: dmz },
      { element: element("dmz"), source: dmz },
    ]);
    expect(chains.map((chain) => chain.ifname) as string[]).toEqual(["eth0", "macvlan1", "net2", "net3"]);
    expect(chains.map((chain) => chain.isDefault)).toEqual([true, false, false, false]);
  });

  test("allows one network twice under different names", () => {
    const chains = plan([
      { element: element("lan"), source: lan },
      { element: element("lan"), source: lan },
    ]);
    expect(chains.map((chain) => [chain.network, chain.ifname] as string[])).toEqual([
      ["cbr0", "eth0"],
      ["web/lan", "net1"],
      ["web/lan", "net2"],
    ]);
  });

  test.each([
    [["lan@x0", "dmz@x0"], "Cannot attach web/dmz as x0: web/lan has that interface name"],
    [["lan@eth0"], "Cannot attach web/lan as eth0: cbr0 has that interface name"],
    [["lan@net2", "dmz"], "Cannot attach web/dmz as net2: web/lan has that interface name"],
  ])("refuses one interface name for two: %j", (items, message) => {
    const wanted = items.map((item): WantedNetwork => ({
      element: element(item),
      source: item.startsWith("lan") ? lan : dmz,
    }));
    const error = refusal(() => plan(wanted));
    expect(error.code).toBe("interface-taken");
    expect(error.message).toStartWith(message);
  });

  test("gives the element's requests as runtimeConfig and arguments, and none of the runtime's", () => {
    const all = source(
      "web/all",
      '{"name":"all","plugins":[{"type":"a","capabilities":{"ips":true,"portMappings":true}},{"type":"b","capabilities":{"mac":true,"bandwidth":true,"infinibandGUID":true,"dns":true}}]}',
    );
    const wish = element(
      '[{"name":"all","ips":["10.0.0.5/24"],"mac":"02:00:00:00:00:05","infiniband-guid":"02:00:00:00:00:00:00:05","portMappings":[{"hostPort":1,"containerPort":2}],"bandwidth":{"ingressRate":5}}]',
    );
    const chain = plan([{ element: wish, source: all }])[1];
    expect(stdinOf(chain, 0)["runtimeConfig"]).toEqual({
      ips: ["10.0.0.5/24"],
      portMappings: [{ hostPort: 1, containerPort: 2 }],
    });
    expect(stdinOf(chain, 1)["runtimeConfig"]).toEqual({
      mac: "02:00:00:00:00:05",
      infinibandGUID: "02:00:00:00:00:00:00:05",
      bandwidth: { ingressRate: 5 },
    });
    expect(chain?.cniArgs).toEndWith(";K8S_POD_UID=u;X=1;MAC=02:00:00:00:00:05;IP=10.0.0.5/24");
  });

  test("merges cni-args into every plugin, the annotation first", () => {
    const list = source("web/l", '{"name":"l","plugins":[{"type":"a","args":{"cni":{"x":1,"y":2}}},{"type":"b"}]}');
    const chain = plan([{ element: element('[{"name":"l","cni-args":{"x":9007199254740993}}]'), source: list }])[1];
    expect(String(chain?.links[0]?.stdin)).toContain('"args":{"cni":{"x":9007199254740993,"y":2}}');
    expect(String(chain?.links[1]?.stdin)).toContain('"args":{"cni":{"x":9007199254740993}}');
  });

  test("does not change what it was given", () => {
    const before = structuredClone(lan);
    plan([{ element: element('[{"name":"lan","mac":"02:00:00:00:00:05"}]'), source: lan }]);
    expect(lan).toEqual(before);
  });

  test.each([
    ["portMappings", '"portMappings":[{"hostPort":1,"containerPort":2}]', "portMappings"],
    ["bandwidth", '"bandwidth":{"ingressRate":1}', "bandwidth"],
    ["infiniband-guid", '"infiniband-guid":"02:00:00:00:00:05"', "infinibandGUID"],
  ])("refuses %s where no plugin can serve it", (key, member, capability) => {
    const error = refusal(() => plan([{ element: element(`[{"name":"dmz",${member}}]`), source: dmz }]));
    expect(error).toMatchObject({ code: "field-unsupported", cniCode: 2 });
    expect(error.message).toBe(
      `Cannot attach web/dmz with "${key}": none of its plugins (ipvlan) declares the capability "${capability}"; add "capabilities": {"${capability}": true} to the plugin that serves it, or take "${key}" out of the pod's annotation`,
    );
  });

  test("refuses a capability that is declared false", () => {
    const off = source("web/off", '{"name":"off","type":"a","capabilities":{"bandwidth":false}}');
    expect(
      refusal(() => plan([{ element: element('[{"name":"off","bandwidth":{"ingressRate":1}}]'), source: off }])).code,
    ).toBe("field-unsupported");
  });

  test("refuses a network without plugins", () => {
    const bare: NetworkSource = {
      network: "x" as NetworkName,
      conf: parseNetworkConf(json('{"name":"x"}'), { what: "x", mayLackPlugins: true }),
    };
    expect(refusal(() => plan([{ source: bare }])).message).toBe("Cannot attach x: its configuration has no plugins");
  });
});

describe("planAttachments with devices", () => {
  const sriov = source(
    "web/vf",
    '{"name":"vf","plugins":[{"type":"sriov","capabilities":{"deviceID":true,"CNIDeviceInfoFile":true}},{"type":"tuning"}]}',
    {
      resource: { resourceName: "intel.com/vf", deviceId: "0000:03:02.0" },
    },
  );
  const request = { ...base.request, containerId: "c0ffee" as ContainerId };

  test("names the device in every plugin, and the file for what is known of it", () => {
    const chain = plan([{ element: element("vf"), source: sriov }], { request })[1];
    expect(stdinOf(chain, 0)).toMatchObject({
      deviceID: "0000:03:02.0",
      pciBusID: "0000:03:02.0",
      runtimeConfig: {
        deviceID: "0000:03:02.0",
        CNIDeviceInfoFile: "/var/run/k8s.cni.cncf.io/devinfo/cni/web-vf-c0ffee_net1",
      },
    });
    expect(stdinOf(chain, 1)).toEqual({
      type: "tuning",
      name: "vf",
      cniVersion: "0.1.0",
      deviceID: "0000:03:02.0",
      pciBusID: "0000:03:02.0",
    });
    expect(chain?.multus.request).toEqual({ deviceId: "0000:03:02.0", resourceName: "intel.com/vf" });
  });

  test("takes the element's device as runtimeConfig only, and only when no resource gave one", () => {
    const wish = element('[{"name":"vf","deviceID":"0000:99:00.0"}]');
    const given = plan([{ element: wish, source: sriov }])[1];
    expect(stdinOf(given)["runtimeConfig"]).toEqual({ deviceID: "0000:03:02.0" });
    const { resource: _, ...without } = sriov;
    const asked = stdinOf(plan([{ element: wish, source: without }])[1]);
    expect(asked["runtimeConfig"]).toEqual({ deviceID: "0000:99:00.0" });
    expect(asked["deviceID"]).toBeUndefined();
  });
});

describe("planAttachments with default-route", () => {
  test("moves the default route and keeps what was asked", () => {
    const chains = plan([
      { element: element('[{"name":"lan","default-route":["10.1.1.1"]}]'), source: lan },
      { element: element("dmz"), source: dmz },
    ]);
    expect(chains.map((chain) => chain.routes)).toEqual([
      { dropV4: true, dropV6: false, gateways: [] },
      { dropV4: true, dropV6: false, gateways: ["10.1.1.1"] },
      { dropV4: true, dropV6: false, gateways: [] },
    ]);
    expect(chains[1]?.multus.request.defaultRoute).toEqual(["10.1.1.1"]);
  });

  test("refuses two gateways of one family", () => {
    const two = ["lan", "dmz"].map((name): WantedNetwork => ({
      element: element(`[{"name":"${name}","default-route":["10.1.1.1"]}]`),
      source: name === "lan" ? lan : dmz,
    }));
    expect(refusal(() => plan(two)).message).toBe("multus does not support ECMP for default-route");
  });
});

describe("planAttachments for going back to Multus", () => {
  test("keeps the configuration as it was loaded", () => {
    const [first, second] = plan([{ element: element("lan"), source: lan }]);
    expect(first?.multus).toMatchObject({ config: primary.conf.text, isList: true, request: {} });
    expect(second?.multus).toMatchObject({ config: lan.conf.text, isList: false });
  });
});
