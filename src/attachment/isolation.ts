import type { Namespace } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { SelectionElement } from "./selection-element.ts";

interface IsolationRule {
  readonly isEnabled: boolean;
  /** Namespaces whose networks every pod may use. */
  readonly globalNamespaces: readonly string[];
}

/** Refuses networks of other namespaces in the networks annotation. The rule does not apply to the default network. */
export function checkIsolation(
  rule: IsolationRule,
  podNamespace: Namespace,
  elements: readonly SelectionElement[],
): void {
  if (!rule.isEnabled) return;
  const forbidden = elements.find(
    ({ namespace }) => namespace !== podNamespace && !rule.globalNamespaces.includes(namespace),
  );
  if (forbidden === undefined) return;
  throw new LeveeError(
    "isolation-violated",
    `GetNetworkDelegates: namespace isolation enabled, annotation violates permission, pod is in namespace ${podNamespace} but refers to target namespace ${forbidden.namespace}`,
  );
}
