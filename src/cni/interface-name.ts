import type { IfName } from "../base/brand.ts";

/** The kernel keeps interface names in 16 bytes, the last of which is NUL. */
export const ifnameBytesMax = 15;

/** Why `name` cannot be an interface name, in libcni's words, or undefined when it can. */
export function ifnameProblem(name: string): string | undefined {
  if (name === "") return "interface name is empty";
  if (Buffer.byteLength(name, "utf8") > ifnameBytesMax) return "interface name is too long";
  if (name === "." || name === "..") return "interface name is . or ..";
  if (/[/:\s\u0085]/u.test(name)) return "interface name contains / or : or whitespace characters";
  // Beyond libcni: a NUL would cut the name short in the kernel, other control characters would garble logs.
  if (/\p{Cc}/u.test(name)) return "interface name contains control characters";
  return undefined;
}

export function isIfName(name: string): name is IfName {
  return ifnameProblem(name) === undefined;
}
