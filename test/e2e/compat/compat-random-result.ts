import type { Random } from "../../hostile/random.ts";

/** A result as a plugin might print it: odd, but one that both read. IFNAME and NETNS are the call's. */
export function randomResult(random: Random): { readonly cniVersion: string } & Readonly<Record<string, unknown>> {
  const cniVersion = random.pick(["0.3.1", "0.4.0", "1.0.0", "1.1.0"]);
  const interfaces = Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, (_, index) => ({
    name: random.pick(["IFNAME", `x${index}`, ""]),
    ...maybe(random, { mac: random.pick(["02:00:00:00:00:01", "02:AA:00:00:00:02", ""]) }),
    ...maybe(random, { sandbox: random.pick(["NETNS", "NETNS", ""]) }),
    ...(cniVersion === "1.1.0" ? maybe(random, { mtu: random.pick([0, 1500, 9000]) }) : {}),
  }));
  const count = random.pick([0, 1, 1, 2, 3]);
  const ips = Array.from({ length: count }, () => randomIp(random, cniVersion < "1.0.0", interfaces.length));
  const routes = Array.from({ length: random.below(3) }, () => random.pick(someRoutes));
  const dns = random.pick(someDns);
  return { cniVersion, ...maybe(random, { interfaces }), ...maybe(random, { ips }), routes, dns };
}

const someRoutes = [
  { dst: "0.0.0.0/0", gw: "10.9.0.1" },
  { dst: "::/0", gw: "fd00::1" },
  { dst: "10.0.0.0/8", gw: "10.9.0.2" },
  { dst: "0.0.0.0/1", gw: "10.9.0.3" },
];
const someDns = [
  {},
  { nameservers: ["1.1.1.1"] },
  { domain: "a.b" },
  { domain: "" },
  { search: [] },
  { options: ["a<b"], search: ["x&y"] },
];

function randomIp(random: Random, isOld: boolean, interfaces: number): Readonly<Record<string, unknown>> {
  const [family, address, gateway] = random.pick([
    ["4", "10.9.0.2/24", "10.9.0.1"],
    ["4", "10.9.0.7/32", "10.9.0.1"],
    ["6", "fd00::2/64", "fd00::1"],
    ["6", "FD00:0::0:3/64", "fd00::1"],
    ["6", "::ffff:10.0.0.9/120", "fd00::1"],
  ]);
  return {
    ...(isOld ? { version: family } : {}),
    address,
    ...maybe(random, { gateway }),
    ...maybe(random, { interface: random.pick([0, 1, 2, interfaces, -1]) }),
  };
}

/** Three times in four. */
function maybe<T extends object>(random: Random, part: T): Partial<T> {
  return random.next() < 0.75 ? part : {};
}
