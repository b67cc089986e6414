/** Results of the default network's plugin in every version, and what the runtime reads of them, byte for byte. */
export interface ResultCase {
  readonly what: string;
  /** Of the conf and of the network. */
  readonly version: string;
  readonly networkVersion?: string;
  readonly answer: unknown;
  /** As it is printed; NETNS stands for the network namespace. */
  readonly printed: string;
}

const inside = { name: "eth0", mac: "02:00:00:00:00:01", sandbox: "NETNS" };
const routes = [{ dst: "0.0.0.0/0", gw: "10.9.0.1" }, { dst: "10.1.0.0/16" }];
const dns = { nameservers: ["10.96.0.10"], domain: "a.example", search: ["b.example"], options: ["ndots:5"] };

const printedIps = `    "interfaces": [
        {
            "name": "eth0",
            "mac": "02:00:00:00:00:01",
            "sandbox": "NETNS"
        }
    ],
    "ips": [
        {
            "version": "4",
            "interface": 0,
            "address": "10.9.0.2/24",
            "gateway": "10.9.0.1"
        },
        {
            "version": "6",
            "interface": 0,
            "address": "fd00:9::2/64"
        }
    ],
    "routes": [
        {
            "dst": "0.0.0.0/0",
            "gw": "10.9.0.1"
        },
        {
            "dst": "10.1.0.0/16"
        }
    ],
    "dns": {
        "nameservers": [
            "10.96.0.10"
        ],
        "domain": "a.example",
        "search": [
            "b.example"
        ],
        "options": [
            "ndots:5"
        ]
    }
}`;

const printedSorted = `    "dns": {
        "domain": "a.example",
        "nameservers": [
            "10.96.0.10"
        ],
        "options": [
            "ndots:5"
        ],
        "search": [
            "b.example"
        ]
    },
    "interfaces": [
        {
            "mac": "02:00:00:00:00:01",
            "name": "eth0",
            "sandbox": "NETNS"
        }
    ],
    "ips": [
        {
            "address": "10.9.0.2/24",
            "gateway": "10.9.0.1",
            "interface": 0
        },
        {
            "address": "fd00:9::2/64",
            "interface": 0
        }
    ],
    "routes": [
        {
            "dst": "0.0.0.0/0",
            "gw": "10.9.0.1"
        },
        {
            "dst": "10.1.0.0/16"
        }
    ]
}`;

const full = {
  interfaces: [inside],
  ips: [
    { address: "10.9.0.2/24", gateway: "10.9.0.1", interface: 0 },
    { address: "fd00:9::2/64", interface: 0 },
  ],
  routes,
  dns,
};
const fullOld = { ...full, ips: full.ips.map((ip, index) => ({ version: index === 0 ? "4" : "6", ...ip })) };

function inCapitals(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCapitals);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key.toUpperCase(), inCapitals(child)]));
}

export const resultCases: readonly ResultCase[] = [
  {
    what: "0.2.0: one address of each family",
    version: "0.2.0",
    answer: {
      cniVersion: "0.2.0",
      ip4: { ip: "10.9.0.2/24", gateway: "10.9.0.1", routes },
      ip6: { ip: "fd00:9::2/64" },
      dns,
    },
    printed: `{
    "cniVersion": "0.2.0",
    "ip4": {
        "ip": "10.9.0.2/24",
        "gateway": "10.9.0.1",
        "routes": [
            {
                "dst": "0.0.0.0/0",
                "gw": "10.9.0.1"
            },
            {
                "dst": "10.1.0.0/16"
            }
        ]
    },
    "ip6": {
        "ip": "fd00:9::2/64"
    },
    "dns": {
        "nameservers": [
            "10.96.0.10"
        ],
        "domain": "a.example",
        "search": [
            "b.example"
        ],
        "options": [
            "ndots:5"
        ]
    }
}`,
  },
  ...["0.3.0", "0.3.1", "0.4.0"].map((version) => ({
    what: `${version}: interfaces and all addresses`,
    version,
    answer: { cniVersion: version, ...fullOld },
    printed: `{\n    "cniVersion": "${version}",\n${printedIps}`,
  })),
  ...["1.0.0", "1.1.0"].map((version) => ({
    what: `${version}: keys are sorted`,
    version,
    answer: { cniVersion: version, ...full },
    printed: `{\n    "cniVersion": "${version}",\n${printedSorted}`,
  })),
  {
    what: "0.4.0: keys in capitals",
    version: "0.4.0",
    answer: inCapitals({ cniVersion: "0.4.0", ...fullOld }),
    printed: `{\n    "cniVersion": "0.4.0",\n${printedIps}`,
  },
  {
    what: "1.0.0: keys in capitals",
    version: "1.0.0",
    answer: inCapitals({ cniVersion: "1.0.0", ...full }),
    printed: `{\n    "cniVersion": "1.0.0",\n${printedSorted}`,
  },
  {
    what: "null, which is a result without anything",
    version: "1.0.0",
    answer: null,
    printed: `{\n    "cniVersion": "1.0.0"\n}`,
  },
  {
    what: "1.1.0: what it has more than 1.0.0",
    version: "1.1.0",
    answer: {
      cniVersion: "1.1.0",
      interfaces: [{ ...inside, mtu: 1450, socketPath: "/run/s", pciID: "0000:00:1f.6" }],
      routes: [{ dst: "10.1.0.0/16", gw: "10.9.0.1", mtu: 1400, advmss: 1360, priority: 100, table: 50, scope: 0 }],
    },
    printed: `{
    "cniVersion": "1.1.0",
    "interfaces": [
        {
            "mac": "02:00:00:00:00:01",
            "mtu": 1450,
            "name": "eth0",
            "pciID": "0000:00:1f.6",
            "sandbox": "NETNS",
            "socketPath": "/run/s"
        }
    ],
    "routes": [
        {
            "advmss": 1360,
            "dst": "10.1.0.0/16",
            "gw": "10.9.0.1",
            "mtu": 1400,
            "priority": 100,
            "scope": 0,
            "table": 50
        }
    ]
}`,
  },
  {
    what: "a network of 1.0.0 for a runtime of 0.3.1",
    version: "0.3.1",
    networkVersion: "1.0.0",
    answer: { cniVersion: "1.0.0", ...full },
    printed: `{\n    "cniVersion": "0.3.1",\n${printedIps}`,
  },
  {
    what: "a network of 0.3.1 for a runtime of 1.1.0",
    version: "1.1.0",
    networkVersion: "0.3.1",
    answer: { cniVersion: "0.3.1", ...fullOld },
    printed: `{\n    "cniVersion": "1.1.0",\n${printedSorted}`,
  },
  {
    what: "nothing, in 1.0.0",
    version: "1.0.0",
    answer: { cniVersion: "1.0.0" },
    printed: `{\n    "cniVersion": "1.0.0"\n}`,
  },
  {
    what: "nothing, in 0.3.1",
    version: "0.3.1",
    answer: { cniVersion: "0.3.1" },
    printed: `{\n    "cniVersion": "0.3.1",\n    "dns": {}\n}`,
  },
];
