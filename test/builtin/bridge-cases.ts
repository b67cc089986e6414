import type { Random } from "../hostile/random.ts";
import type { Case, Step, Upstream } from "./case.ts";
import { cniVersion, life, oneIn, perhapsAfter, perhapsLeft, some } from "./chance.ts";
import { hostLocal, leaseFiles, merged, staticAddresses, wishes } from "./ipam-cases.ts";

export function bridgeCase(random: Random, upstream: Upstream): Case {
  const version = cniVersion(random, upstream);
  const ipam = oneIn(random, 20) ? undefined : random.pick([hostLocal, hostLocal, staticAddresses])(random, upstream);
  const own = some(random, 30, { bridge: "br0" });
  const conf = {
    cniVersion: version,
    name: "net",
    type: "bridge",
    ...own,
    ...some(random, 30, {
      mtu: random.pick([1400, 1400, 9000, 1500, 0, -1, 60, 70_000]),
      forceAddress: true,
      promiscMode: true,
      ipMasq: false,
      dns: some(random, 50, { nameservers: ["10.0.0.53"], domain: "a.b", search: [], options: ["ndots:2"] }),
      capabilities: { mac: true },
    }),
    ...some(random, 50, { isGateway: true }),
    ...some(random, 40, { isDefaultGateway: true }),
    ...some(random, 10, { hairpinMode: true, preserveDefaultVlan: true, vlan: 0, macspoofchk: false }),
    ...(upstream.version === "1.9.1"
      ? some(random, 10, {
          disableContainerInterface: ipam === undefined,
          portIsolation: true,
          enabledad: oneIn(random, 80),
        })
      : {}),
    ...some(random, 3, { ipMasq: true, vlan: 7, macspoofchk: true, unknown: 1 }),
    ...(ipam === undefined ? {} : { ipam }),
    ...merged(macWishes(random), ipam === undefined ? {} : wishes(random, String(ipam["type"]))),
  };
  const args = random.pick(["", "", "", "IgnoreUnknown=1;K8S_POD_NAME=p;MAC=02:11:22:33:44:55"]);
  const calls = steps(random, version, "bridge" in own ? "br0" : "cni0");
  const isTwice = calls.filter(({ command }) => command === "ADD").length > 1;
  // On a clean host more goes well.
  const isClean = oneIn(random, 40);
  const before = [
    ...(isTwice ? fixedBridges : []),
    ...(isClean ? [] : worldBefore(random)),
    ...(isClean || ipam === undefined ? [] : leaseFiles(random)),
  ];
  return perhapsLeft({ seed: random.seed, plugin: "bridge", conf, args, before, steps: calls }, 5, left);
}

const left = [
  { vlan: 7, preserveDefaultVlan: true },
  { vlan: 7, preserveDefaultVlan: false },
  { vlanTrunk: [{ id: 8 }, { minID: 10, maxID: 12 }] },
  { ipMasq: true, ipMasqBackend: "nftables" },
  { ipMasqBackend: "iptables" },
  { ipam: { resolvConf: "/etc/resolv.conf" } },
];

/** The MAC address that a runtime or `args` asks for. */
function macWishes(random: Random): Record<string, unknown> {
  const mac = (): Record<string, unknown> => ({
    mac: random.pick(["02:00:00:00:00:0A", "02-00-00-00-00-0b", "", "01:00:00:00:00:01", "zz"]),
  });
  return some(random, 10, { runtimeConfig: mac(), args: { cni: mac() } });
}

/** A bridge without a MAC address of its own takes the lowest of its ports, which is random. */
const fixedBridges = [
  "host ip link add cni0 address 02:00:00:00:00:c0 type bridge",
  "host ip link add br0 address 02:00:00:00:00:b0 type bridge",
];

function steps(random: Random, version: string, bridge: string): readonly Step[] {
  const again: Step = { command: "ADD", id: random.pick(["c1", "c2"]), ifname: random.pick(["eth0", "net1"]) };
  const [add, ...rest] = life(version);
  const status: readonly Step[] = version >= "1.1.0" ? [{ command: "STATUS", id: "", ifname: "" }] : [];
  if (add === undefined) return [];
  const later = perhapsAfter(random, { percent: 25, mishaps: mishaps(bridge) }, rest);
  return [add, ...(oneIn(random, 40) ? [again] : []), ...status, ...later];
}

/** What may go wrong between two calls. */
function mishaps(bridge: string): readonly string[] {
  const names = "host ip -o link show type veth | sed 's/^[0-9]*: \\([^@:]*\\).*/\\1/'";
  return [
    "box ip link delete eth0",
    "box ip addr flush dev eth0",
    "box ip route flush table main; box ip -6 route flush table main",
    "box ip link set eth0 address 02:00:00:00:00:77",
    "box ip link delete eth0; box ip link add eth0 type bridge",
    `host ip link delete ${bridge}`,
    `host ip link delete ${bridge}; host ip link add ${bridge} type bridge`,
    `host ip link set ${bridge} address 02:00:00:00:00:78`,
    `host ip link set ${bridge} promisc on`,
    `for port in $(${names}); do host ip link set $port nomaster; done`,
    `for port in $(${names}); do host ip link set $port address 02:00:00:00:00:79; done`,
    "rm -f leases/net/[1f]*",
  ].map((line) => `{ ${line}; } 2>/dev/null || true`);
}

/** Bridges, links, addresses and sysctls that are there before. */
function worldBefore(random: Random): readonly string[] {
  const lines = [
    "host ip link add cni0 type bridge; host ip link add br0 type bridge; host ip link set br0 up",
    "host ip link add cni0 type bridge; host ip addr add 10.0.0.77/24 dev cni0",
    "host ip link add cni0 type bridge; host ip addr add fd00:0:0::77/64 dev cni0; host ip addr add fd77::1/64 dev cni0",
    "host ip link add cni0 type veth peer name other",
    "box ip link add eth0 type veth peer name other",
    "host sysctl -qw net.ipv4.ip_forward=1; host sysctl -qw net.ipv6.conf.all.forwarding=0",
    "box sysctl -qw net.ipv6.conf.default.disable_ipv6=1; box sysctl -qw net.ipv6.conf.lo.disable_ipv6=1",
    "box ip link set lo up",
  ];
  return lines.filter(() => oneIn(random, 6)).map((line) => `{ ${line}; } 2>/dev/null || true`);
}
