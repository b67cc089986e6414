import type { Random } from "../hostile/random.ts";
import type { Case, Upstream } from "./case.ts";
import { cniVersion, life, oneIn, perhapsLeft } from "./chance.ts";

export function loopbackCase(random: Random, upstream: Upstream): Case {
  const version = cniVersion(random, upstream);
  const lines = [
    "box ip link set lo up",
    "box ip addr add 127.0.0.9/8 dev lo",
    "box ip addr add 10.5.0.1/32 dev lo",
    "box ip addr add fd05::1/128 dev lo",
    "box sysctl -qw net.ipv6.conf.all.disable_ipv6=1",
  ];
  const before = lines.filter(() => oneIn(random, 15)).map((line) => `${line} 2>/dev/null || true`);
  const conf = {
    cniVersion: version,
    name: "lo",
    type: "loopback",
    ...(oneIn(random, 20) ? { dns: { domain: "x" } } : {}),
  };
  const args = random.pick(["", "IgnoreUnknown=1;K8S_POD_NAME=p"]);
  const steps = life(version, "c1", random.pick(["lo", "eth0"]));
  const made: Case = { seed: random.seed, plugin: "loopback", conf, args, before, steps };
  return perhapsLeft(made, 10, [{ prevResult: resultBefore(version) }]);
}

/** Of a plugin before in the chain. */
function resultBefore(version: string): Record<string, unknown> {
  const ip = { address: "10.0.0.2/24", ...(version < "1.0.0" ? { version: "4" } : {}) };
  return { cniVersion: version, interfaces: [{ name: "eth0" }], ips: [ip] };
}
