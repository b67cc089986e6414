import type { Finding } from "./finding.ts";
import type { MultusInstall } from "./find-multus.ts";
import { valueIn, listIn, nameOf, textIn, titleOf } from "../../kube-object.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * `kubectl apply` removes only fields that it set before. On a Multus that was installed in another way, the drop-in is
 * merged, and Multus' hostPID, init container, limits and mounts would stay in Levee's pods.
 */
export function checkOwnership({ daemonSet }: MultusInstall): readonly Finding[] {
  // A manifest that was never in a cluster has no owner yet.
  if (textIn(daemonSet, "metadata", "uid") === "") return [];
  const base = { topic: "multus", object: titleOf(daemonSet) } as const;
  const owners = specOwners(daemonSet);
  if (textIn(daemonSet, "metadata", "annotations", lastApplied) !== "") {
    const others = owners
      .filter(({ manager, isMaker }) => !isMaker && !kubectlOwn.has(manager))
      .map(({ manager }) => manager);
    if (others.length === 0) return [];
    const what = `${others.join(", ")} changed it beside kubectl apply; what they set stays when the drop-in is applied`;
    const remedy = `kubectl -n ${nameOf(daemonSet).split("/")[0] ?? ""} get daemonset ${textIn(daemonSet, "metadata", "name")} -o yaml --show-managed-fields shows what; docs/migrate.md, step 4`;
    return [{ ...base, level: "differs", what, remedy }];
  }
  const server = owners.find(({ operation }) => operation === "Apply");
  if (server !== undefined)
    return [
      {
        ...base,
        level: "differs",
        what: `it was made by server-side apply of ${server.manager}: applied in another way, the drop-in would leave Multus' own fields in it`,
        remedy: `apply the drop-in the same way: kubectl apply --server-side --force-conflicts --field-manager=${server.manager} -f multus-drop-in.yaml`,
      },
    ];
  return [
    {
      ...base,
      level: "blocks",
      what: `it was not made with kubectl apply (it has no ${lastApplied}), so the drop-in would leave Multus' own fields in it: hostPID, an init container, limits, mounts`,
      remedy:
        "kubectl apply set-last-applied --create-annotation -f YOUR-MULTUS.yaml, then check again; docs/migrate.md, step 4",
    },
  ];
}

/** The field managers of kubectl itself. */
const kubectlOwn: ReadonlySet<string> = new Set([
  "kubectl-client-side-apply",
  "kubectl-rollout",
  "kubectl-last-applied",
]);

interface Owner {
  readonly manager: string;
  readonly operation: string;
  /** It set the selector, which cannot change later, so it made the object. */
  readonly isMaker: boolean;
}

/** The managers that set fields of the spec. The controller sets only the status. */
function specOwners(daemonSet: unknown): readonly Owner[] {
  return listIn(daemonSet, "metadata", "managedFields")
    .filter((entry) => valueIn(entry, "fieldsV1", "f:spec") !== undefined && textIn(entry, "subresource") === "")
    .map((entry) => ({
      manager: textIn(entry, "manager"),
      operation: textIn(entry, "operation"),
      isMaker: valueIn(entry, "fieldsV1", "f:spec", "f:selector") !== undefined,
    }));
}
