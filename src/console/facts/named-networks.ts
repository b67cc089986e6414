import { isObject, textOf } from "../../kube/client/json-fields.ts";

/** A pod may ask for no more. */
const networksMax = 64;

/**
 * The networks that a pod's annotation names, as `NAMESPACE/NAME`, for display only: a text that no daemon would accept
 * names none here.
 */
export function namedNetworks(annotation: string, namespace: string): readonly string[] {
  const named = /[[{"]/u.test(annotation) ? jsonForm(annotation) : annotation.split(",").map(shortForm);
  return [
    ...new Set(named.filter(({ name }) => name !== "").map((one) => `${one.namespace || namespace}/${one.name}`)),
  ].slice(0, networksMax);
}

interface NamedNetwork {
  readonly namespace: string;
  readonly name: string;
}

/** `NAMESPACE/NAME@INTERFACE`, the first and last part of which may be missing. */
function shortForm(text: string): NamedNetwork {
  const [whole = ""] = text.trim().split("@");
  const [first = "", second] = whole.split("/");
  return second === undefined ? { namespace: "", name: first } : { namespace: first, name: second };
}

function jsonForm(text: string): readonly NamedNetwork[] {
  const list = parsed(text);
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map(({ name, namespace }) => ({ name: textOf(name), namespace: textOf(namespace) }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The daemon refuses such a pod in words; here it only names nothing.
    return undefined;
  }
}
