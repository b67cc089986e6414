import { Random } from "../hostile/random.ts";
import type { Case, Step, Upstream } from "./case.ts";

/** True in so many of a hundred cases. */
export function oneIn(random: Random, percent: number): boolean {
  return random.below(100) < percent;
}

/** The object with each key that a coin lets in. */
export function some(
  random: Random,
  percent: number,
  members: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(() => oneIn(random, percent)));
}

export function cniVersion(random: Random, upstream: Upstream): string {
  const known = ["0.3.0", "0.3.1", "0.4.0", "1.0.0"];
  return random.pick(upstream.version === "1.9.1" ? [...known, "1.1.0"] : known);
}

/** Where the version has them, the calls that are about no container. */
export function callsOfNetwork(version: string): readonly Step[] {
  if (version < "1.1.0") return [];
  return (["STATUS", "GC"] as const).map((command) => ({ command, id: "", ifname: "" }));
}

/** ADD, CHECK where the version has it, DEL twice, and the calls that are about no container. */
export function life(version: string, id = "c1", ifname = "eth0"): readonly Step[] {
  const check: readonly Step[] = version >= "0.4.0" ? [{ command: "CHECK", id, ifname }] : [];
  const del: Step = { command: "DEL", id, ifname };
  return [{ command: "ADD", id, ifname }, ...check, del, del, ...callsOfNetwork(version)];
}

/** The steps, and in so many of a hundred cases something goes wrong before the first of them. */
export function perhapsAfter(
  random: Random,
  { percent, mishaps }: { readonly percent: number; readonly mishaps: readonly string[] },
  steps: readonly Step[],
): readonly Step[] {
  const [next, ...rest] = steps;
  return next === undefined || !oneIn(random, percent) ? steps : [{ ...next, first: random.pick(mishaps) }, ...rest];
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The case, in so many of a hundred with one of these additions, which the built-in plugin leaves to the program. They
 * are drawn apart, so that a seed means the same case as before there were any.
 */
export function perhapsLeft(of: Case, percent: number, additions: readonly Members[]): Case {
  const random = new Random(~of.seed);
  if (!oneIn(random, percent)) return of;
  const added = Object.entries(random.pick(additions)).map(
    ([key, value]) => [key, joined(of.conf[key], value)] as const,
  );
  return { ...of, conf: { ...of.conf, ...Object.fromEntries(added) } };
}

function joined(value: unknown, added: unknown): unknown {
  return isMembers(value) && isMembers(added) ? { ...value, ...added } : added;
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Otherwise addresses and their routes come when the kernel has found no duplicate. */
export const quickAddresses =
  "box sh -c 'for name in all default; do echo 0 > /proc/sys/net/ipv6/conf/$name/accept_dad; done'";
