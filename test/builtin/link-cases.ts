import type { Random } from "../hostile/random.ts";
import type { Case, Step, Upstream } from "./case.ts";
import { cniVersion, life, oneIn, perhapsAfter, perhapsLeft, quickAddresses, some } from "./chance.ts";
import { hostLocal, leaseFiles, merged, staticAddresses, wishes } from "./ipam-cases.ts";

type Members = Record<string, unknown>;

/** Links of the host for others to be made on; `up1` has a default route now and then. */
export const uplinks = [
  [
    "host ip -batch - <<END",
    "link add up0 address 02:00:00:00:00:a0 type veth peer name up1 address 02:00:00:00:00:a1",
    ...["link set up0 mtu 1450 up", "link set up1 up", "link set lo up", "END"],
  ].join("\n"),
  quickAddresses,
];

/** What may go wrong between two calls, if the interface is the container's. */
const mishaps = (ifname: string): readonly string[] => [
  `box ip link delete ${ifname} 2>/dev/null || true`,
  `box ip addr flush dev ${ifname} 2>/dev/null || true`,
  `box ip route flush table main 2>/dev/null || true`,
  `box ip link set ${ifname} address 02:00:00:00:00:77 2>/dev/null || true`,
  "host ip link delete up0 2>/dev/null || true",
];

export function macvlanCase(random: Random, upstream: Upstream): Case {
  const conf = {
    ...onUplink(random),
    ...some(random, 30, {
      mode: random.pick(["", "bridge", "private", "vepa", "passthru"]),
      mtu: random.pick([0, 1400, 1450, 1451, 67, 68, -1]),
      mac: random.pick(["02:00:00:00:0A:01", "", "01:00:00:00:00:01", "02-00-00-00-00-02"]),
    }),
    ...some(random, 10, { runtimeConfig: { mac: "02:00:00:00:00:03" }, capabilities: { mac: true } }),
    ...(upstream.version === "1.9.1" ? some(random, 10, { bcqueuelen: 500, linkInContainer: false }) : {}),
    ...some(random, 2, { mode: "source", linkInContainer: true, unknown: 1, mac: "zz" }),
  };
  return withIpam({ random, upstream, plugin: "macvlan", conf, withoutIpam: 30 });
}

export function ipvlanCase(random: Random, upstream: Upstream): Case {
  const conf = {
    ...onUplink(random),
    ...some(random, 30, { mode: random.pick(["", "l2", "l3", "l3s"]), mtu: random.pick([0, 1400, 9000, 67, -1]) }),
    ...(oneIn(random, 15) ? { prevResult: resultBefore(random) } : {}),
    ...some(random, 2, { mode: "l4", linkInContainer: true }),
  };
  return { ...withIpam({ random, upstream, plugin: "ipvlan", conf, withoutIpam: 5 }), mayLeaveLater: true };
}

export function vlanCase(random: Random, upstream: Upstream): Case {
  const conf = {
    ...onUplink(random),
    vlanId: random.pick([0, 1, 57, 4094]),
    ...some(random, 30, { mtu: random.pick([0, 1400, 1450, 1451, 67, -1]) }),
    ...some(random, 2, { vlanId: 4095, linkInContainer: true }),
  };
  return { ...withIpam({ random, upstream, plugin: "vlan", conf, withoutIpam: 2 }), mayLeaveLater: true };
}

export function ptpCase(random: Random, upstream: Upstream): Case {
  const conf = {
    ...some(random, 30, { mtu: random.pick([0, 1400, 9000, 67, 70_000, -1]), ipMasq: false }),
    ...some(random, 2, { ipMasq: true }),
  };
  const made = withIpam({ random, upstream, plugin: "ptp", conf, withoutIpam: 2 });
  return perhapsLeft({ ...made, conf: withGateways(made.conf) }, 3, [{ ipMasqBackend: "nftables" }]);
}

/**
 * Upstream waits for an IPv6 address only if one has a gateway. Otherwise its routes are refused or not, depending on how
 * far the kernel is, so a case without a gateway compares nothing.
 */
function withGateways({ ipam, args, runtimeConfig, ...conf }: Members): Members {
  const { addresses, ...more } = (ipam ?? {}) as { readonly addresses?: readonly Members[] };
  const fixed = addresses?.map((each) =>
    String(each["address"]).includes(":") ? { gateway: "fd00:0:0::1", ...each } : each,
  );
  const wished = JSON.stringify([args, runtimeConfig]).includes("fd07:") ? {} : { args, runtimeConfig };
  return {
    ...conf,
    ...(ipam === undefined ? {} : { ipam: { ...more, ...(fixed === undefined ? {} : { addresses: fixed }) } }),
    ...wished,
  };
}

export function hostDeviceCase(random: Random, upstream: Upstream): Case {
  const conf = oneIn(random, 75)
    ? { device: random.pick(["up0", "up0", "up0", "up1", "lo", "none", "mac0"]) }
    : { hwaddr: random.pick(["02:00:00:00:00:A0", "02:00:00:00:00:09"]) };
  const made = withIpam({ random, upstream, plugin: "host-device", conf, withoutIpam: 40 });
  const more = [
    "host ip addr add 10.44.0.1/24 dev up0; host ip route add 10.45.0.0/16 via 10.44.0.2",
    "host ip link set up0 down",
    "host ip link set up0 alias before",
    // It cannot be set up as long as the link below is down.
    "host ip link set up1 down; host ip link add mac0 link up1 address 02:00:00:00:00:ac type macvlan; host ip link set up0 down",
    "box ip link add up0 type veth peer name other",
    "box ip link add eth0 type veth peer name other",
  ];
  const before = [...made.before, ...more.filter(() => oneIn(random, 12)).map(quiet)];
  return perhapsLeft({ ...made, before, mayLeaveLater: true }, 5, [
    { pciBusID: "0000:00:1f.6" },
    { kernelpath: "/sys/devices/none" },
    { runtimeConfig: { deviceID: "0000:00:1f.6" }, capabilities: { deviceID: true } },
  ]);
}

function onUplink(random: Random): Members {
  const master = random.pick(["up0", "up0", "up0", "up0", "up1", "none", ""]);
  return oneIn(random, 10) ? {} : { master };
}

/** The result of a plugin before in the chain. */
function resultBefore(random: Random): Members {
  const interfaces = [{ name: random.pick(["up0", "none"]) }, { name: "up1" }].slice(0, 1 + random.below(2));
  return { interfaces, ips: [{ address: "10.66.0.2/24", gateway: "10.66.0.1" }].slice(0, random.below(2)) };
}

interface Parts {
  readonly random: Random;
  readonly upstream: Upstream;
  readonly plugin: string;
  readonly conf: Members;
  /** How many of a hundred have no IPAM plugin. */
  readonly withoutIpam: number;
}

function withIpam({ random, upstream, plugin, conf, withoutIpam }: Parts): Case {
  const version = cniVersion(random, upstream);
  const ipam = oneIn(random, withoutIpam) ? undefined : random.pick([hostLocal, staticAddresses])(random, upstream);
  const wished = ipam === undefined ? {} : wishes(random, String(ipam["type"]));
  const whole = {
    cniVersion: version,
    name: "net",
    type: plugin,
    ...conf,
    ...(oneIn(random, 30)
      ? { dns: some(random, 50, { nameservers: ["10.0.0.53"], domain: "a.b", search: [], options: ["x"] }) }
      : {}),
    ...(ipam === undefined ? some(random, 30, { ipam: {} }) : { ipam, ...merged(conf, wished) }),
  };
  const args = random.pick(["", "", "", "IgnoreUnknown=1;K8S_POD_NAME=p", "IgnoreUnknown=1;MAC=02:11:22:33:44:55"]);
  const before = [...uplinks, ...worldBefore(random), ...(ipam === undefined ? [] : leaseFiles(random))];
  return { seed: random.seed, plugin, conf: whole, args, before, steps: steps(random, version) };
}

function steps(random: Random, version: string): readonly Step[] {
  const ifname = random.pick(["eth0", "eth0", "net1", "up1"]);
  const [add, ...rest] = life(version, "c1", ifname);
  if (add === undefined) return [];
  const again = oneIn(random, 10) ? [add] : [];
  return [add, ...again, ...perhapsAfter(random, { percent: 20, mishaps: mishaps(ifname) }, rest)];
}

function worldBefore(random: Random): readonly string[] {
  const lines = [
    "host ip addr add 10.88.0.1/24 dev up1; host ip route add default via 10.88.0.2",
    "host ip addr add fd88::1/64 dev up0; host ip route add default via fd88::2",
    "host ip link set up0 down",
    "box ip link add eth0 type veth peer name other",
    "box sysctl -qw net.ipv6.conf.default.disable_ipv6=1",
    "host sysctl -qw net.ipv4.ip_forward=1",
    "box ip link set lo up",
  ];
  return lines.filter(() => oneIn(random, 8)).map(quiet);
}

/** A line that may fail, because of another one. */
function quiet(line: string): string {
  return `{ ${line}; } 2>/dev/null || true`;
}
