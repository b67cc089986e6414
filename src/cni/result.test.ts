import { describe, expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { supportedVersions } from "./cni-version.ts";
import { asJsonText } from "./json-text.ts";
import { type CniResult, parseResult, printResult, withCniVersion } from "./result.ts";

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

/** One result that every version can hold. */
const plain: CniResult = {
  cniVersion: "1.1.0",
  interfaces: [],
  ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1" }, { address: "fd00::2/64" }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1" }, { dst: "10.9.0.0/16" }, { dst: "::/0", gw: "fd00::1" }],
  dns: { nameservers: ["10.0.0.10"], domain: "example.org", search: ["a", "b"], options: ["ndots:5"] },
};

/** Everything 1.1.0 knows. */
const full: CniResult = {
  ...plain,
  interfaces: [
    { name: "br0", mac: "02:00:00:00:00:01" },
    {
      name: "eth0",
      mac: "02:00:00:00:00:02",
      mtu: 1500,
      sandbox: "/run/netns/a",
      socketPath: "/run/s",
      pciID: "0000:00:01.0",
    },
  ],
  ips: [{ address: "10.0.0.2/24", gateway: "10.0.0.1", interface: 1 }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1", mtu: 1400, advmss: 1360, priority: 10, table: 0, scope: 0 }],
};

describe("printResult", () => {
  test("prints 1.1.0 with sorted keys and without empty dns, byte for byte", () => {
    expect(printResult({ ...full, dns: {} }, "1.1.0")).toBe(`{
    "cniVersion": "1.1.0",
    "interfaces": [
        {
            "mac": "02:00:00:00:00:01",
            "name": "br0"
        },
        {
            "mac": "02:00:00:00:00:02",
            "mtu": 1500,
            "name": "eth0",
            "pciID": "0000:00:01.0",
            "sandbox": "/run/netns/a",
            "socketPath": "/run/s"
        }
    ],
    "ips": [
        {
            "address": "10.0.0.2/24",
            "gateway": "10.0.0.1",
            "interface": 1
        }
    ],
    "routes": [
        {
            "advmss": 1360,
            "dst": "0.0.0.0/0",
            "gw": "10.0.0.1",
            "mtu": 1400,
            "priority": 10,
            "scope": 0,
            "table": 0
        }
    ]
}`);
  });

  test("prints 1.0.0 as 1.1.0 but for the version, as libcni does", () => {
    expect(printResult(full, "1.0.0")).toBe(printResult(full, "1.1.0").replace('"1.1.0"', '"1.0.0"'));
    expect(printResult(full, "1.0.0")).toContain(
      '    "dns": {\n        "domain": "example.org",\n        "nameservers": [',
    );
  });
});

describe("printResult before 1.0.0", () => {
  test("prints 0.3.1 with the version of each address, dns always, interfaces without what came later", () => {
    expect(printResult({ ...full, dns: {} }, "0.3.1")).toBe(`{
    "cniVersion": "0.3.1",
    "interfaces": [
        {
            "name": "br0",
            "mac": "02:00:00:00:00:01"
        },
        {
            "name": "eth0",
            "mac": "02:00:00:00:00:02",
            "sandbox": "/run/netns/a"
        }
    ],
    "ips": [
        {
            "version": "4",
            "interface": 1,
            "address": "10.0.0.2/24",
            "gateway": "10.0.0.1"
        }
    ],
    "routes": [
        {
            "dst": "0.0.0.0/0",
            "gw": "10.0.0.1",
            "mtu": 1400,
            "advmss": 1360,
            "priority": 10,
            "table": 0,
            "scope": 0
        }
    ],
    "dns": {}
}`);
  });

  test("prints 0.2.0 with one address per family and the routes below it", () => {
    const two = { ...plain, ips: [...plain.ips, { address: "10.0.0.3/24" }], dns: { nameservers: ["1.1.1.1"] } };
    expect(printResult(two, "0.2.0")).toBe(`{
    "cniVersion": "0.2.0",
    "ip4": {
        "ip": "10.0.0.2/24",
        "gateway": "10.0.0.1",
        "routes": [
            {
                "dst": "0.0.0.0/0",
                "gw": "10.0.0.1"
            },
            {
                "dst": "10.9.0.0/16"
            }
        ]
    },
    "ip6": {
        "ip": "fd00::2/64",
        "routes": [
            {
                "dst": "::/0",
                "gw": "fd00::1"
            }
        ]
    },
    "dns": {
        "nameservers": [
            "1.1.1.1"
        ]
    }
}`);
  });
});

describe("printResult in every version", () => {
  test("prints an empty result in every version", () => {
    const none: CniResult = { cniVersion: "1.1.0", interfaces: [], ips: [], routes: [], dns: {} };
    const printed = supportedVersions.map((version) => printResult(none, version));
    expect(printed.slice(0, 5)).toEqual(
      ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0"].map(
        (version) => `{\n    "cniVersion": "${version}",\n    "dns": {}\n}`,
      ),
    );
    expect(printed.slice(5)).toEqual(["1.0.0", "1.1.0"].map((version) => `{\n    "cniVersion": "${version}"\n}`));
  });

  test("takes the empty version for 0.1.0 and refuses unknown ones", () => {
    expect(printResult(plain, "")).toContain('"cniVersion": "0.1.0"');
    expect(() => printResult(plain, "0.9.0")).toThrow("cniVersion must be one of");
  });

  test("escapes as Go does", () => {
    const odd = { ...plain, dns: { domain: "a<b>&c\u2028" } };
    expect(printResult(odd, "1.1.0")).toContain(String.raw`"domain": "a\u003cb\u003e\u0026c\u2028"`);
  });
});

describe("results across versions", () => {
  const pairs = supportedVersions.flatMap((from) => supportedVersions.map((to): [string, string] => [from, to]));

  test.each(pairs)("what every version holds survives %s to %s and back", (from, to) => {
    const first = parseResult(json(printResult(plain, from)), "");
    const second = parseResult(json(printResult(first, to)), "");
    expect({ ...second, cniVersion: "" }).toEqual({ ...plain, cniVersion: "" });
    expect([first.cniVersion, second.cniVersion]).toEqual([from, to]);
    expect(printResult(second, from)).toBe(printResult(plain, from));
  });

  test("everything survives 1.0.0 and 1.1.0; interfaces survive from 0.3.0", () => {
    expect(parseResult(json(printResult(full, "1.0.0")), "")).toEqual({ ...full, cniVersion: "1.0.0" });
    expect(parseResult(json(printResult(full, "1.1.0")), "")).toEqual(full);
    const old = parseResult(json(printResult(full, "0.3.0")), "");
    expect(old.interfaces).toEqual([
      { name: "br0", mac: "02:00:00:00:00:01" },
      { name: "eth0", mac: "02:00:00:00:00:02", sandbox: "/run/netns/a" },
    ]);
    expect(old.ips).toEqual(full.ips);
    expect(parseResult(json(printResult(full, "0.2.0")), "").interfaces).toEqual([]);
  });
});

describe("parseResult, as libcni", () => {
  test("takes null for a result without anything, as libcni does", () => {
    expect(parseResult(json("null"), "1.0.0")).toEqual({
      cniVersion: "1.0.0",
      interfaces: [],
      ips: [],
      routes: [],
      dns: {},
    });
    expect(withCniVersion(json("null"), "1.0.0")).toBe(json('{"cniVersion":"1.0.0"}'));
  });

  test("has no MTU, socket and PCI address of an interface before 1.0.0, whose type lacks them", () => {
    const link = '{"name":"a","mtu":9000,"socketPath":"/s","pciID":"0000:00:1f.6"}';
    const read = (version: string): object | undefined =>
      parseResult(json(`{"interfaces":[${link}]}`), version).interfaces[0];
    expect(read("0.4.0")).toEqual({ name: "a" });
    expect(read("1.0.0")).toEqual({ name: "a", mtu: 9000, socketPath: "/s", pciID: "0000:00:1f.6" });
  });
});

describe("parseResult", () => {
  test("takes the configuration's version for a result without one", () => {
    expect(parseResult(json('{"ip4":{"ip":"10.0.0.2/24"}}'), "0.2.0").ips).toEqual([{ address: "10.0.0.2/24" }]);
    expect(parseResult(json('{"ips":[{"address":"10.0.0.2/24"}]}'), "1.0.0")).toMatchObject({
      cniVersion: "1.0.0",
      ips: [{ address: "10.0.0.2/24" }],
    });
    expect(parseResult(json('{"cniVersion":""}'), "").cniVersion).toBe("0.1.0");
  });

  test("prefers the result's own version", () => {
    expect(
      parseResult(json('{"cniVersion":"0.3.1","ips":[{"version":"4","address":"10.0.0.2/24"}]}'), "1.0.0").cniVersion,
    ).toBe("0.3.1");
  });

  test("brings addresses into canonical form", () => {
    const result = parseResult(
      json('{"ips":[{"address":"FD00:0::2/64","gateway":"::ffff:10.0.0.1"}],"routes":[{"dst":"::0/0","gw":""}]}'),
      "1.1.0",
    );
    expect(result.ips).toEqual([{ address: "fd00::2/64", gateway: "10.0.0.1" }]);
    expect(result.routes).toEqual([{ dst: "::/0" }]);
  });

  test("reads null and empty members as absent", () => {
    const text = json('{"interfaces":null,"ips":null,"routes":[],"dns":{"nameservers":null,"domain":"","search":[]}}');
    expect(parseResult(text, "1.1.0")).toEqual({ cniVersion: "1.1.0", interfaces: [], ips: [], routes: [], dns: {} });
    expect(
      parseResult(json('{"interfaces":[{"name":"a","mac":"","mtu":0,"sandbox":null}]}'), "1.1.0").interfaces,
    ).toEqual([{ name: "a" }]);
  });

  test("ignores members it does not know", () => {
    expect(parseResult(json('{"x":1,"ips":[{"address":"10.0.0.2/24","y":2}]}'), "1.1.0").ips).toEqual([
      { address: "10.0.0.2/24" },
    ]);
  });

  test.each([
    ["[]", "1.0.0", "it must be an object: current value is []"],
    ['{"cniVersion":1}', "1.0.0", "cniVersion must be a string: current value is 1"],
    ['{"interfaces":{}}', "1.0.0", "interfaces must be an array: current value is {}"],
    ['{"interfaces":["x"]}', "1.0.0", 'interfaces[0] must be an object: current value is "x"'],
    ['{"interfaces":[{"name":7}]}', "1.0.0", "interfaces[0].name must be a string: current value is 7"],
    ['{"interfaces":[{"mtu":1.5}]}', "1.0.0", "interfaces[0].mtu must be an integer: current value is 1.5"],
    ['{"interfaces":[{"mtu":1.5}]}', "1.1.0", "interfaces[0].mtu must be an integer: current value is 1.5"],
    ['{"ips":[{}]}', "1.0.0", "ips[0].address must be an address with prefix: current value is missing"],
    [
      '{"ips":[{"address":"10.0.0.2"}]}',
      "1.0.0",
      'ips[0].address must be an address with prefix: current value is "10.0.0.2"',
    ],
    [
      '{"ips":[{"address":"10.0.0.2/24","gateway":"x"}]}',
      "0.4.0",
      'ips[0].gateway must be an IP address: current value is "x"',
    ],
    [
      '{"ips":[{"address":"10.0.0.2/24","interface":"0"}]}',
      "0.4.0",
      'ips[0].interface must be an integer: current value is "0"',
    ],
    [
      '{"routes":[{"dst":"default"}]}',
      "1.0.0",
      'routes[0].dst must be a network with prefix: current value is "default"',
    ],
    [
      '{"routes":[{"gw":"10.0.0.1"}]}',
      "1.0.0",
      "routes[0].dst must be a network with prefix: current value is missing",
    ],
    ['{"dns":[]}', "1.0.0", "dns must be an object: current value is []"],
    ['{"dns":{"search":"a"}}', "1.0.0", 'dns.search must be an array of strings: current value is "a"'],
    ['{"ip4":"10.0.0.2"}', "0.2.0", 'ip4 must be an object: current value is "10.0.0.2"'],
    [
      '{"ip4":{"ip":"10.0.0.2/24","routes":[{"dst":1}]}}',
      "0.2.0",
      "ip4.routes[0].dst must be a string: current value is 1",
    ],
    ['{"ip6":{}}', "0.1.0", "ip6.ip must be an address with prefix: current value is missing"],
  ])("refuses %s", (text, version, reason) => {
    expect(() => parseResult(json(text), version, "the result of bridge")).toThrow(
      new LeveeError("decode-failed", `Cannot read the result of bridge: ${reason}`),
    );
  });

  test("refuses unsupported versions", () => {
    for (const attempt of [
      () => parseResult(json('{"cniVersion":"0.9.0"}'), "1.0.0"),
      () => parseResult(json("{}"), "2.0.0"),
    ]) {
      expect(attempt).toThrow(LeveeError);
      expect(attempt).toThrow("cniVersion must be one of");
    }
  });
});

describe("withCniVersion", () => {
  test("adds a missing version and leaves a present one", () => {
    expect(String(withCniVersion(json('{ "ips":[1.0] }'), "1.0.0"))).toBe('{ "ips":[1.0],"cniVersion":"1.0.0" }');
    expect(String(withCniVersion(json('{"cniVersion":""}'), "1.0.0"))).toBe('{"cniVersion":"1.0.0"}');
    expect(String(withCniVersion(json('{"cniVersion":null}'), "1.0.0"))).toBe('{"cniVersion":"1.0.0"}');
    expect(String(withCniVersion(json('{"cniVersion":"0.4.0"}'), "1.0.0"))).toBe('{"cniVersion":"0.4.0"}');
  });
});
