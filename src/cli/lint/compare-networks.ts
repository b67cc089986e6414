import type { LintFinding } from "../../lint/lint-finding.ts";
import type { LintNetwork } from "../../lint/lint-objects.ts";
import { networksNamedBy } from "../../lint/pod-wish.ts";
import { editRule } from "../../lint/rules/edit-rule.ts";
import type { ClusterReading } from "./lint-cluster.ts";

/** Networks that the files change, and that pods of the cluster use. A network that files lack may be elsewhere in git. */
export function compareNetworks(after: readonly LintNetwork[], cluster: ClusterReading): readonly LintFinding[] {
  const before = new Map(cluster.networks.map((network) => [keyOf(network), network]));
  const users = usersOf(cluster);
  return after.flatMap((network) => {
    const old = before.get(keyOf(network));
    return old === undefined ? [] : editRule({ before: old, after: network, pods: users.get(keyOf(network)) ?? [] });
  });
}

function usersOf({ pods }: ClusterReading): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const pod of pods) {
    for (const name of networksNamedBy(pod)) {
      const own = users.get(name);
      if (own === undefined) users.set(name, [keyOf(pod)]);
      else own.push(keyOf(pod));
    }
  }
  return users;
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
