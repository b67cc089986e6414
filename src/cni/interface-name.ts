import type { IfName } from "../base/brand.ts";

/** The kernel stores an interface name in 16 bytes with a final NUL. */
export const ifnameBytesMax = 15;

/** Why `name` is not a valid interface name, in libcni's words; undefined when it is valid. */
export function ifnameProblem(name: string): string | undefined {
  if (name === "") return "interface name is empty";
  if (Buffer.byteLength(name, "utf8") > ifnameBytesMax) return "interface name is too long";
  if (name === "." || name === "..") return "interface name is . or ..";
  if (/[/:\p{White_Space}]/u.test(name)) return "interface name contains / or : or whitespace characters";
  // Stricter than libcni: the kernel cuts the name at a NUL, and other control characters garble logs.
  if (/\p{Cc}/u.test(name)) return "interface name contains control characters";
  return undefined;
}

/** The kernel refuses these names or completes them itself, as `a%d`, so the plugin of such a pod can only fail. */
export function kernelProblem(name: string): string | undefined {
  if (name === "all" || name === "default") return "interface name is all or default, which the kernel reserves";
  return name.includes("%") ? "interface name contains %, which the kernel replaces" : undefined;
}

export function isIfName(name: string): name is IfName {
  return ifnameProblem(name) === undefined;
}
