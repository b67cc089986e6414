import { argoOwners } from "../decide/argo-owners.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { ApplicationSource, World } from "../facts/world.ts";

/** What the Applications are made of that own the CNI daemons, where that is a folder of plain manifests in git. */
export function cniSources(world: World, { cniDaemons }: GuardSettings): readonly ApplicationSource[] {
  return world.daemonSets
    .filter(({ namespace, name }) => cniDaemons.some((one) => one.namespace === namespace && one.daemonSet === name))
    .flatMap((daemonSet) => argoOwners(daemonSet, world))
    .map(({ application }) => application.source)
    .filter(({ isPlain, repository }) => isPlain && repository !== "");
}
