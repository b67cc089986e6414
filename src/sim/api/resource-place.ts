/** What a path of the API server names. */
export interface ResourcePlace {
  readonly resource: string;
  /** Empty for a list of all namespaces, and for what has none. */
  readonly namespace: string;
  /** Undefined for a list. */
  readonly name: string | undefined;
  readonly subresource: string;
}

/** `/api/v1/namespaces/NS/pods/NAME/status`, `/apis/GROUP/VERSION/RESOURCE` and the like. */
export function resourcePlace(path: string): ResourcePlace {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const rest = parts.slice(parts[0] === "api" ? 2 : 3);
  const isNamespaced = rest[0] === "namespaces" && rest.length >= 3;
  const [resource = "", name, subresource = ""] = isNamespaced ? rest.slice(2) : rest;
  return { resource, namespace: isNamespaced ? (rest[1] ?? "") : "", name, subresource };
}

/** The key of an object in `SimApi`. */
export function placeKey({ namespace, name }: Pick<ResourcePlace, "namespace" | "name">): string {
  return `${namespace}/${name ?? ""}`;
}
