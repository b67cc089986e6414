/** An object as read from the cluster or a file. Every field is checked before use. */
export type KubeObject = Readonly<Record<string, unknown>>;

type PathKey = string | number;

export function isKubeObject(value: unknown): value is KubeObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path; undefined if a part of the path is missing. */
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
  return Array.isArray(found) ? (found as readonly unknown[]) : []; // each element is checked before use
}

export function kindOf(object: KubeObject): string {
  return textIn(object, "kind");
}

/** `namespace/name`; objects in files may lack the namespace. */
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

/** The spec of a pod, or of a workload's pods. */
export function podSpecOf(object: KubeObject): unknown {
  return kindOf(object) === "Pod" ? valueIn(object, "spec") : valueIn(object, "spec", "template", "spec");
}

export function containersOf(object: KubeObject): readonly unknown[] {
  const spec = podSpecOf(object);
  return [...listIn(spec, "containers"), ...listIn(spec, "initContainers")];
}
