import { describe, expect, test } from "bun:test";
import type { IfName, JsonText, NetworkName } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { asJsonText, jsonValue } from "../cni/json-text.ts";
import { networkStatus } from "./network-status.ts";

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

function chain(network: string, isDefault: boolean, cniVersion = "1.0.0"): Chain {
  return {
    network: network as NetworkName,
    confName: network,
    ifname: "eth0" as IfName,
    cniVersion,
    isDefault,
    cniArgs: "",
    links: [],
    disableCheck: false,
    disableGC: false,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: { config: json("{}"), isList: false, capabilityArgs: {}, request: {} },
  };
}

const primary = chain("primary-net", true);
const secondary = chain("default/net-a", false);

/** The statuses of one result, parsed. */
function statuses(of: Chain, result: object, device?: object): unknown {
  const text = networkStatus([of], [jsonValue(result)], device === undefined ? [] : [jsonValue(device)]);
  return text === undefined ? undefined : JSON.parse(text);
}

const inside = { name: "eth0", mac: "02:00:00:00:00:02", sandbox: "/run/netns/a" };

describe("networkStatus", () => {
  test("is byte for byte what Multus writes", () => {
    const first = json(
      '{"interfaces":[{"name":"eth0","mac":"02:00:00:00:00:00","sandbox":"/run/netns/a"}],"ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1","interface":0}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}]}',
    );
    const second = json(
      '{"interfaces":[{"name":"net1","mac":"02:00:00:00:00:01","mtu":1450,"sandbox":"/run/netns/a"}],"ips":[{"address":"10.1.1.2/24","interface":0},{"address":"fd00::2/64"}],"dns":{"nameservers":["10.0.0.10"],"domain":"example.org","search":["a"],"options":["b"]}}',
    );
    expect(networkStatus([primary, secondary], [first, second])).toBe(`[{
    "name": "primary-net",
    "interface": "eth0",
    "ips": [
        "10.0.0.2"
    ],
    "mac": "02:00:00:00:00:00",
    "default": true,
    "dns": {},
    "gateway": [
        "10.0.0.1"
    ]
},{
    "name": "default/net-a",
    "interface": "net1",
    "ips": [
        "10.1.1.2",
        "fd00::2"
    ],
    "mac": "02:00:00:00:00:01",
    "mtu": 1450,
    "dns": {
        "nameservers": [
            "10.0.0.10"
        ],
        "domain": "example.org",
        "search": [
            "a"
        ],
        "options": [
            "b"
        ]
    }
}]`);
  });

  test("is undefined when no result has an interface", () => {
    expect(
      networkStatus([primary, secondary], [json('{"ips":[{"address":"10.0.0.2/24"}]}'), json("{}")]),
    ).toBeUndefined();
    expect(networkStatus([], [])).toBeUndefined();
  });

  test("of one interface outside the pod has addresses but no name", () => {
    const result = {
      interfaces: [{ name: "veth1", mac: "02:00:00:00:00:09" }],
      ips: [{ address: "10.0.0.2/24", interface: 7 }],
    };
    expect(statuses(primary, result)).toEqual([{ name: "primary-net", ips: ["10.0.0.2"], default: true, dns: {} }]);
  });

  test("of several interfaces has one entry for each inside the pod", () => {
    const result = {
      interfaces: [{ name: "br0" }, { name: "veth1" }, inside, { name: "eth1", sandbox: "/run/netns/a" }],
      ips: [
        { address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 2 },
        { address: "10.0.1.2/24", interface: 3 },
        { address: "10.0.2.2/24" },
        { address: "10.0.3.2/24", interface: 0 },
      ],
      routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }],
    };
    expect(statuses(primary, result)).toEqual([
      {
        name: "primary-net",
        interface: "eth0",
        ips: ["10.0.0.2"],
        mac: "02:00:00:00:00:02",
        default: true,
        dns: {},
        gateway: ["10.0.0.1"],
      },
      { name: "primary-net", interface: "eth1", ips: ["10.0.1.2", "10.0.2.2"], dns: {}, gateway: ["10.0.0.1"] },
    ]);
  });
});

describe("networkStatus and default routes", () => {
  test("marks the interface of the first address with a gateway as default", () => {
    const interfaces = [inside, { name: "eth1", sandbox: "/run/netns/a" }];
    const withGateway = {
      interfaces,
      ips: [
        { address: "10.0.0.2/24", interface: 0 },
        { address: "10.0.1.2/24", gateway: "10.0.1.1", interface: 1 },
      ],
    };
    expect(statuses(primary, withGateway)).toMatchObject([{ interface: "eth0" }, { interface: "eth1", default: true }]);
    expect(statuses(primary, withGateway)).not.toMatchObject([{ default: true }, {}]);
    expect(statuses(primary, { interfaces })).toMatchObject([
      { interface: "eth0", default: true },
      { interface: "eth1" },
    ]);
    expect(JSON.stringify(statuses(secondary, withGateway))).not.toContain('default":true');
  });

  test("takes a gateway's interface for the default one wherever it is, so that there may be no default", () => {
    const result = {
      interfaces: [{ name: "br0" }, inside],
      ips: [
        { address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 99 },
        { address: "10.0.0.3/24", interface: -1 },
      ],
    };
    expect(statuses(primary, result)).toEqual([
      { name: "primary-net", interface: "eth0", mac: "02:00:00:00:00:02", dns: {} },
    ]);
  });

  test("names the gateways of default routes of both families, and no others", () => {
    const routes = [
      { dst: "::/0", gw: "fd00::1" },
      { dst: "0.0.0.0/0", gw: "10.0.0.1" },
      { dst: "0.0.0.0/0" },
      { dst: "10.0.0.0/8", gw: "10.0.0.9" },
      { dst: "0.0.0.0/1", gw: "10.0.0.7" },
    ];
    const gateway = ["fd00::1", "10.0.0.1", "10.0.0.7"];
    expect(statuses(primary, { interfaces: [inside], routes })).toMatchObject([{ gateway }]);
    expect(JSON.stringify(statuses(primary, { interfaces: [inside], routes: [{ dst: "0.0.0.0/0" }] }))).not.toContain(
      "gateway",
    );
  });

  test("reads old results, which have no interfaces and so no entry", () => {
    expect(networkStatus([chain("old", true, "0.2.0")], [json('{"ip4":{"ip":"10.0.0.2/24"}}')])).toBeUndefined();
  });
});

describe("networkStatus and devices", () => {
  test("adds what is known of the device, members in their order", () => {
    const device = {
      extra: 1,
      pci: { "rdma-device": "mlx5_0", "pci-address": "0000:03:02.0", "vhost-net": "" },
      version: "1.1.0",
      type: "pci",
    };
    const text = networkStatus([secondary], [json(`{"interfaces":[${JSON.stringify(inside)}]}`)], [jsonValue(device)]);
    expect(text).toContain(`    "dns": {},
    "device-info": {
        "type": "pci",
        "version": "1.1.0",
        "pci": {
            "pci-address": "0000:03:02.0",
            "rdma-device": "mlx5_0"
        }
    }
}]`);
  });

  test("reads the other kinds of device", () => {
    const device = {
      "type": "vdpa",
      "vdpa": { driver: "vhost", path: "/dev/v" },
      "vhost-user": { mode: "client", path: "/s" },
      "memif": { role: "slave", path: "/m", mode: "ip" },
    };
    expect(statuses(secondary, { interfaces: [inside] }, device)).toMatchObject([{ "device-info": device }]);
  });

  test("refuses device-info of a wrong shape with the place", () => {
    expect(() => statuses(secondary, { interfaces: [inside] }, { pci: "x" })).toThrow(
      'Cannot read a device-info file: pci must be an object: current value is "x"',
    );
  });

  test("skips chains that have no result yet and names the network of a bad one", () => {
    expect(networkStatus([primary, secondary], [jsonValue({ interfaces: [inside] })])).toStartWith(
      '[{\n    "name": "primary-net"',
    );
    expect(() => statuses(secondary, { interfaces: 7 })).toThrow(
      "Cannot read the result of default/net-a: interfaces must be an array: current value is 7",
    );
  });
});
