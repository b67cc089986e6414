import type { NamespaceFacts } from "./world.ts";

/**
 * A namespace with this label, whatever its value, is one that the site depends on. It is a label because the API server
 * must know it too: the policies of `deploy/policies` refuse the guard any change of size there.
 */
export const criticalLabel = "levee.dev/critical";

export function isNamedCritical(namespace: string, namespaces: readonly NamespaceFacts[]): boolean {
  const labels = namespaces.find(({ name }) => name === namespace)?.labels;
  return labels !== undefined && Object.hasOwn(labels, criticalLabel);
}
