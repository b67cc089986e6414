/** The pods of one namespace: all of them, or those that have every one of these labels. */
export interface PodSelector {
  readonly namespace: string;
  readonly labels: readonly (readonly [key: string, value: string])[];
}

const namespaceName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;
const labelKey = /^(?:[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?\/)?[a-zA-Z0-9](?:[-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/u;
const labelValue = /^(?:[a-zA-Z0-9](?:[-_.a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)?$/u;

/**
 * Parses `NAMESPACE` or `NAMESPACE/KEY=VALUE,KEY=VALUE`; undefined for anything else. There is no selector without a
 * namespace: labels are whatever the author of a pod writes, so they count only where the setting trusts those authors.
 */
export function parsePodSelector(text: string): PodSelector | undefined {
  const slash = text.indexOf("/");
  const namespace = slash === -1 ? text : text.slice(0, slash);
  if (!namespaceName.test(namespace)) return undefined;
  if (slash === -1) return { namespace, labels: [] };
  const labels = text
    .slice(slash + 1)
    .split(",")
    .map((pair) => {
      const [key = "", value = "", ...rest] = pair.split("=");
      return { key, value, isPair: pair.includes("=") && rest.length === 0 };
    });
  const isRight = labels.every(({ key, value, isPair }) => isPair && labelKey.test(key) && labelValue.test(value));
  return isRight ? { namespace, labels: labels.map(({ key, value }) => [key, value] as const) } : undefined;
}

export function isSelected(
  selectors: readonly PodSelector[],
  namespace: string,
  labels: Readonly<Record<string, unknown>>,
): boolean {
  return selectors.some(
    (selector) => selector.namespace === namespace && selector.labels.every(([key, value]) => labels[key] === value),
  );
}
