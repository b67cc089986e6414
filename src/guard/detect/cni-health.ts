import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";

/** Above this share, calls go to daemons that already fail. */
export const stormShare = 1 / 3;

/** The share of nodes without a ready CNI daemon; with several daemons the worst counts, because a pod needs each. */
export function unhealthyShare({ daemonSets }: Pick<World, "daemonSets">, { cniDaemons }: GuardSettings): number {
  const shares = daemonSets
    .filter(({ namespace, name }) =>
      cniDaemons.some((daemon) => daemon.namespace === namespace && daemon.daemonSet === name),
    )
    .filter(({ desired }) => desired > 0)
    .map(({ desired, ready }) => (desired - ready) / desired);
  return Math.max(0, ...shares);
}
