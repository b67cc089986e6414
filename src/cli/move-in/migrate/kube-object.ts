/** An object of the cluster as it was read; nothing in it is believed before it is looked at. */
export type KubeObject = Readonly<Record<string, unknown>>;

type PathKey = string | number;

export function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is at the path, or undefined when something on the way is missing or of another kind. */
export function valueIn(value: unknown, ...path: readonly PathKey[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<PathKey, unknown>>)[step]; // an object that has the key, by the line above
  }
  return found;
}

export function textIn(value: unknown, ...path: readonly PathKey[]): string {
  const found = valueIn(value, ...path);
  return typeof found === "string" ? found : "";
}

export function listIn(value: unknown, ...path: readonly PathKey[]): readonly unknown[] {
  const found = valueIn(value, ...path);
  return Array.isArray(found) ? (found as readonly unknown[]) : []; // its elements are looked at one by one
}

export function kindOf(object: KubeObject): string {
  return textIn(object, "kind");
}

/** `namespace/name`; objects in files may leave the namespace out. */
export function nameOf(object: KubeObject): string {
  return `${namespaceOf(object)}/${textIn(object, "metadata", "name")}`;
}

export function namespaceOf(object: KubeObject): string {
  const namespace = textIn(object, "metadata", "namespace");
  return namespace === "" ? "default" : namespace;
}

export function titleOf(object: KubeObject): string {
  return `${kindOf(object)} ${nameOf(object)}`;
}

/** The pod that a workload makes, or the pod itself. */
export function podSpecOf(object: KubeObject): unknown {
  return kindOf(object) === "Pod" ? valueIn(object, "spec") : valueIn(object, "spec", "template", "spec");
}

export function containersOf(object: KubeObject): readonly unknown[] {
  const spec = podSpecOf(object);
  return [...listIn(spec, "containers"), ...listIn(spec, "initContainers")];
}
