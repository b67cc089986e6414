/** An image by name, with a tag, a digest or both. */
export interface ImageReference {
  /** Registry and path, such as `quay.io/kubevirt/cdi-operator`. */
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const component = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const host = `${label}(?:\\.${label})*(?::[0-9]{1,5})?`;
const reference = new RegExp(
  `^((?:${host}/)?${component}(?:/${component})*)(?::(\\w[\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
  "u",
);
const registryName = new RegExp(`^${host}(?:/${component})*$`, "u");

/** Runtimes take at most 255 for the name, 128 for the tag and 71 for the digest. */
const charactersMax = 456;

/** Undefined for a text that no runtime would take for an image. */
export function parseImage(text: string): ImageReference | undefined {
  const match = text.length > charactersMax ? null : reference.exec(text);
  return match === null ? undefined : { name: match[1] ?? "", tag: match[2], digest: match[3] };
}

/** The registry of an image, or undefined for a short name, which each runtime completes in its own way. */
export function registryOf(name: string): string | undefined {
  const slash = name.indexOf("/");
  const first = slash === -1 ? "" : name.slice(0, slash);
  return isHost(first) ? first : undefined;
}

/** Why a text is no registry with an optional path, or undefined. The text goes into manifests, so nothing is corrected. */
export function registryProblem(text: string): string | undefined {
  if (text === "") return "it is empty; write it as registry.example.com/site";
  if (/^[a-z][a-z0-9+.-]*:\/\//iu.test(text)) return "leave out the scheme, write it as registry.example.com/site";
  if (text.endsWith("/")) return "leave out the slash at the end";
  if (text.includes("@")) return "it must have no user and no digest; write it as registry.example.com/site";
  if (!isHost(text.split("/", 1)[0] ?? ""))
    return "it must begin with the registry's host, such as registry.example.com or localhost:5000";
  if (portOf(text) > 65_535) return "its port must be at most 65535";
  if (!registryName.test(text)) return "only lower-case names, digits, dots and dashes may follow the host";
  return undefined;
}

function portOf(text: string): number {
  return Number(/^[^/:]+:([0-9]+)(?:\/|$)/u.exec(text)?.[1] ?? 0);
}

/** Runtimes take the first part for a host if it has a dot or a port. */
function isHost(first: string): boolean {
  return first === "localhost" || /[.:]/u.test(first);
}
