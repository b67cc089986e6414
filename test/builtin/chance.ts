import type { Random } from "../hostile/random.ts";
import type { Step, Upstream } from "./case.ts";

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

/** ADD, CHECK where the version has it, and DEL twice. */
export function life(version: string, id = "c1", ifname = "eth0"): readonly Step[] {
  const check: readonly Step[] = version >= "0.4.0" ? [{ command: "CHECK", id, ifname }] : [];
  return [{ command: "ADD", id, ifname }, ...check, { command: "DEL", id, ifname }, { command: "DEL", id, ifname }];
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

/** Otherwise addresses and their routes come when the kernel has found no duplicate. */
export const quickAddresses =
  "box sh -c 'for name in all default; do echo 0 > /proc/sys/net/ipv6/conf/$name/accept_dad; done'";
