import type { Random } from "../hostile/random.ts";
import type { Case, Step, Upstream } from "./case.ts";
import { cniVersion, life, oneIn, perhapsAfter, quickAddresses, some } from "./chance.ts";

/** With several sysctls upstream says by chance which one was refused, so a refused one is alone. */
const good = [
  "net.ipv4.conf.IFNAME.arp_filter",
  "net/ipv4/conf/IFNAME/arp_notify",
  "net.ipv6.conf.all.forwarding",
  "net.ipv4.ip_forward",
];
const refused: readonly (readonly [string, string])[] = [
  ["net.ipv4.conf.IFNAME.missing", "1"],
  ["net.ipv4.ip_forward", "x"],
  ["kernel.pid_max", "1"],
  ["net.ipv4.conf.eth0.arp_filter", "99999999999999"],
  ["net..ipv4", "1"],
];

export function tuningCase(random: Random, upstream: Upstream): Case {
  const version = cniVersion(random, upstream);
  const conf = {
    cniVersion: version,
    name: "net",
    type: "tuning",
    dataDir: random.pick(["$FOLDER/tuning", "$FOLDER/a/deep/folder", "$FOLDER/tuning/"]),
    ...some(random, 35, {
      mac: random.pick(["02:00:00:00:0A:01", "", "02:00:00:00:00:01", "01:00:00:00:00:01", "02-00-00-00-00-02"]),
      mtu: random.pick([0, 1400, 9000, 67, 70_000]),
      promisc: oneIn(random, 80),
      allmulti: oneIn(random, 60),
      sysctl: sysctls(random),
    }),
    ...(upstream.version === "1.9.1" ? some(random, 30, { txQLen: random.pick([0, 77, 1000]) }) : {}),
    ...some(random, 10, {
      runtimeConfig: { mac: "02:00:00:00:00:03" },
      capabilities: { mac: true },
      dns: { domain: "a" },
    }),
    ...some(random, 2, { args: { cni: { mtu: 1300 } }, txQLen: 5, mtu: -1, unknown: 1 }),
    ...(oneIn(random, 95) ? { prevResult: resultBefore(random, version) } : {}),
  };
  const args = random.pick(["", "", "", "IgnoreUnknown=1;MAC=02:11:22:33:44:55"]);
  return {
    seed: random.seed,
    plugin: "tuning",
    conf,
    args,
    before: worldBefore(random),
    steps: steps(random, version),
  };
}

function sysctls(random: Random): Record<string, string> {
  if (oneIn(random, 20)) return Object.fromEntries([random.pick(refused)]);
  return Object.fromEntries(good.filter(() => oneIn(random, 40)).map((name) => [name, random.pick(["0", "1"])]));
}

function resultBefore(random: Random, version: string): Record<string, unknown> {
  const isOld = version < "1.0.0";
  const ip = (address: string, family: string): Record<string, unknown> => ({
    address,
    ...(isOld ? { version: family } : {}),
    ...some(random, 50, { interface: 0, gateway: family === "4" ? "10.0.0.1" : "fd00::1" }),
  });
  return {
    cniVersion: version,
    interfaces: [
      { name: "eth0", mac: "02:00:00:00:00:e0", sandbox: "/run/netns/$BOX" },
      ...(oneIn(random, 20) ? [{ name: "eth0" }, { name: "veth00000001", mac: "02:00:00:00:00:e1" }] : []),
    ],
    ...some(random, 50, {
      ips: [ip("10.0.0.2/24", "4"), ip("fd00::2/64", "6")].slice(0, 1 + random.below(2)),
      routes: [{ dst: "0.0.0.0/0" }, { dst: "fd99::/64", gw: "fd00::1" }].slice(0, random.below(3)),
      dns: some(random, 50, { nameservers: ["10.0.0.53"], domain: "a<b", search: [], options: ["x"] }),
    }),
  };
}

function steps(random: Random, version: string): readonly Step[] {
  const [add, ...rest] = life(version, "c1", oneIn(random, 95) ? "eth0" : "none");
  if (add === undefined) return [];
  const mishaps = [
    "box ip link delete eth0 2>/dev/null || true",
    "box ip link set eth0 mtu 1200 2>/dev/null || true",
    "box ip link set eth0 promisc on 2>/dev/null || true",
    "box ip link set eth0 address 02:00:00:00:00:99 2>/dev/null || true",
    "box sysctl -qw net.ipv4.ip_forward=0",
  ];
  const again = oneIn(random, 10) ? [add] : [];
  return [add, ...again, ...perhapsAfter(random, { percent: 25, mishaps }, rest)];
}

function worldBefore(random: Random): readonly string[] {
  const lines = [
    "box ip link set eth0 promisc on",
    "box ip link set eth0 allmulticast on",
    "box ip link set eth0 mtu 1300 txqueuelen 50",
    ": > tuning",
    "mkdir -m 700 tuning",
    "box ip link set eth0 down",
  ];
  const link = "box ip link add eth0 address 02:00:00:00:00:e0 type veth peer name other address 02:00:00:00:00:e9";
  const isThere = oneIn(random, 95);
  const chosen = lines.filter(() => oneIn(random, 10)).map((line) => `{ ${line}; } 2>/dev/null || true`);
  return [quickAddresses, ...(isThere ? [link, "box ip link set other up; box ip link set eth0 up"] : []), ...chosen];
}
