import type { Random } from "../hostile/random.ts";
import type { Case, Step, Upstream } from "./case.ts";
import { callsOfNetwork, cniVersion, life, oneIn, perhapsLeft, some } from "./chance.ts";

type Members = Record<string, unknown>;

/** A configuration of host-local, with up to three sets of ranges of both families. */
export function hostLocal(random: Random, upstream: Upstream): Members {
  const sets = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, (_, at) => rangeSet(random, at));
  const [first, ...rest] = sets;
  const isOldForm = oneIn(random, 40) && first?.length === 1;
  const ranges = isOldForm ? { ...first?.[0], ...(rest.length > 0 ? { ranges: rest } : {}) } : { ranges: sets };
  return {
    type: "host-local",
    ...ranges,
    dataDir: oneIn(random, 10) ? "$FOLDER/leases/" : "$FOLDER/leases",
    ...(oneIn(random, 60) ? { routes: routes(random, upstream) } : {}),
  };
}

/** Mostly one IPv4 and one IPv6 set: a bridge takes one IPv4 gateway only. */
function rangeSet(random: Random, at: number): readonly Members[] {
  const isV6 = oneIn(random, [15, 85, 50][at] ?? 50);
  return Array.from({ length: oneIn(random, 25) ? 2 : 1 }, (_, number) => {
    const base = isV6 ? `fd00:${at}:${number}::` : `10.${at}.${number}.`;
    const end = (host: number): string => (isV6 ? `${base}${host.toString(16)}` : `${base}${host}`);
    const prefix = random.pick(isV6 ? [64, 112, 120, 126] : [24, 28, 29, 30]);
    const subnet = `${isV6 ? base : `${base}0`}/${prefix}`;
    const ends = some(random, 20, { gateway: end(random.pick([1, 1, 2, 3])), rangeStart: end(1), rangeEnd: end(2) });
    return { subnet, ...ends };
  });
}

function routes(random: Random, upstream: Upstream): readonly Members[] {
  return Array.from({ length: random.below(4) }, (_, at) => {
    const usual = [
      "0.0.0.0/0",
      `192.168.${at}.0/24`,
      `192.168.${at}.0/24`,
      `172.16.${at}.0/24`,
      `fd99:${at}::/64`,
      "10.0.0.0/8",
    ];
    const dst = oneIn(random, 10) ? random.pick(["192.168.0.1/24", "::/0"]) : random.pick(usual);
    const gateway = dst.includes(":") ? ["fd00:1:0::1"] : ["10.0.0.1", "10.0.0.1", "10.0.0.1", "172.31.0.1"];
    const young = {
      mtu: 1400,
      advmss: 1300,
      priority: random.pick([5, 100]),
      table: random.pick([0, 77, 1000]),
      scope: random.pick([0, 253]),
    };
    return {
      dst,
      ...(oneIn(random, 25) ? { gw: random.pick(gateway) } : {}),
      ...(upstream.version === "1.9.1" ? some(random, 15, young) : {}),
    };
  });
}

export function staticAddresses(random: Random, upstream: Upstream): Members {
  const addresses = Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, (_, at) => {
    const isV6 = oneIn(random, 30);
    const address = isV6
      ? `fd00:${at}:0::${random.pick(["9", "a"])}/64`
      : `10.${at}.0.${random.pick([9, 10])}/${random.pick([24, 32, 31, 8])}`;
    return { address, ...(oneIn(random, 60) ? { gateway: isV6 ? `fd00:${at}:0::1` : `10.${at}.0.1` } : {}) };
  });
  const dns = some(random, 50, {
    nameservers: ["10.0.0.53", "a&b<c>"],
    domain: "x.y",
    search: ["p", "q"],
    options: [],
  });
  return {
    type: "static",
    addresses,
    ...(oneIn(random, 40) ? { routes: routes(random, upstream) } : {}),
    ...(oneIn(random, 30) ? { dns } : {}),
  };
}

/** What a runtime or `args` may ask for, as members of the configuration. */
export function wishes(random: Random, type: string): Members {
  const ips =
    type === "static" ? ["10.7.0.5/24", "fd07::5/64"] : ["10.0.0.2", "10.0.0.3/24", "10.1.0.2", "fd00:1:0::2"];
  const wished = oneIn(random, 15) ? [random.pick(ips)] : [];
  const ranges = oneIn(random, 8) && type === "host-local" ? { ipRanges: [[{ subnet: "10.99.0.0/29" }]] } : {};
  const isByRuntime = oneIn(random, 50);
  const runtimeConfig = { ...ranges, ...(wished.length > 0 && isByRuntime ? { ips: wished } : {}) };
  return {
    ...(Object.keys(runtimeConfig).length > 0 ? { runtimeConfig } : {}),
    ...(wished.length > 0 && !isByRuntime ? { args: { cni: { ips: wished } } } : {}),
  };
}

/** The wishes, with what the configuration itself has of a runtime and of `args`. */
export function merged(conf: Members, wished: Members): Members {
  const both = (key: string): Members => ({
    ...(conf[key] as Members | undefined),
    ...(wished[key] as Members | undefined),
  });
  const runtimeConfig = both("runtimeConfig");
  const [own, other] = [conf["args"], wished["args"]] as readonly ({ readonly cni?: Members } | undefined)[];
  const cni = { ...own?.cni, ...other?.cni };
  return {
    ...wished,
    ...(Object.keys(runtimeConfig).length > 0 ? { runtimeConfig } : {}),
    ...(Object.keys(cni).length > 0 ? { args: { cni } } : {}),
  };
}

/** Several containers on the same ranges, until these are full. */
export function hostLocalCase(random: Random, upstream: Upstream): Case {
  const version = cniVersion(random, upstream);
  const conf = {
    cniVersion: version,
    name: "net",
    type: "x",
    ipam: hostLocal(random, upstream),
    ...wishes(random, "host-local"),
  };
  const commands: readonly Step["command"][] = ["ADD", "ADD", "DEL", ...(version >= "0.4.0" ? ["CHECK" as const] : [])];
  const steps: readonly Step[] = [
    { command: "ADD", id: "c1", ifname: "eth0" },
    ...Array.from({ length: 6 }, () => ({
      command: random.pick(commands),
      id: `c${1 + random.below(3)}`,
      ifname: random.pick(["eth0", "eth0", "net1"]),
    })),
    ...callsOfNetwork(version),
  ];
  const args = random.pick([
    "",
    "",
    "",
    "IgnoreUnknown=1;K8S_POD_NAME=p",
    "IP=10.0.0.2",
    "IP=10.0.0.1",
    "IgnoreUnknown=true;IP=10.0.0.6;X=y",
  ]);
  const before = leaseFiles(random);
  const made: Case = { seed: random.seed, plugin: "host-local", conf, args, before, steps, isOnlyFiles: true };
  return perhapsLeft(made, 3, [{ ipam: { resolvConf: "/etc/resolv.conf" } }]);
}

/** Files that are there before: leases of others and of old versions, garbage, folders, positions. */
export function leaseFiles(random: Random): readonly string[] {
  const net = "mkdir -p leases/net";
  const lines = [
    "printf 'c9\\r\\neth0' > leases/net/10.0.0.2",
    "printf 'c1' > leases/net/10.0.0.3",
    "printf '\\377\\376 garbage' > leases/net/10.0.0.4",
    ": > leases/net/10.0.0.5",
    "printf 10.0.0.3 > leases/net/last_reserved_ip.0",
    "printf garbage > leases/net/last_reserved_ip.0",
    "printf fd00:0:0::1 > leases/net/last_reserved_ip.1",
    "mkdir leases/net/10.0.0.6",
    "mkdir leases/net/sub; printf 'c1\\r\\neth0' > leases/net/sub/10.0.0.7",
    "mkdir leases/net/last_reserved_ip.0",
    "mkdir leases/net/lock",
    "(flock 9; kill -9 $(exec sh -c 'echo $PPID')) 9> leases/net/lock & wait || true",
  ];
  const chosen = lines.filter(() => oneIn(random, 7));
  if (oneIn(random, 3)) return [": > leases"];
  return chosen.length === 0 ? [] : [net, ...chosen.map((line) => `${line} 2>/dev/null || true`)];
}

export function staticCase(random: Random, upstream: Upstream): Case {
  const version = cniVersion(random, upstream);
  const conf = {
    cniVersion: version,
    name: "net",
    type: "x",
    ipam: staticAddresses(random, upstream),
    ...wishes(random, "static"),
  };
  const args = random.pick([
    "",
    "",
    "IP=10.3.0.4/24",
    "IgnoreUnknown=1;IP=10.3.0.4/24,fd03::4/64;GATEWAY=10.3.0.1,fd03::1",
    "GATEWAY=10.0.0.1",
  ]);
  return { seed: random.seed, plugin: "static", conf, args, before: [], steps: life(version), isOnlyFiles: true };
}
