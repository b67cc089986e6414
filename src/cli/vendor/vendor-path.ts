import { lstat, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";

/** Longer names do not fit into most file systems and archives. */
const pathCharsMax = 240;

/** Why a path cannot be that of a vendored file, or undefined. Looks at the text only. */
export function vendorPathProblem(path: string): string | undefined {
  const parts = path.split("/");
  if (path.length > pathCharsMax) return `has more than ${pathCharsMax} characters`;
  if (/[\u0000-\u001f\u007f\\]/u.test(path)) return "has a control character or a backslash";
  if (path.startsWith("/")) return "must be relative to the repository";
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "must not climb: no .., . or //";
  if (parts.some((part) => part.toLowerCase() === ".git")) return "is inside .git";
  if (!/\.ya?ml$/u.test(path)) return "must end in .yaml or .yml, as Argo CD reads no other manifests";
  return undefined;
}

/**
 * The absolute path of a vendored file. No folder on the way and no file at its end may be a symbolic link: the link
 * could lead out of the repository, and git would not hold what is behind it.
 */
export async function vendoredPlace(root: string, path: string): Promise<string> {
  const problem = vendorPathProblem(path);
  if (problem !== undefined) throw badPath(path, `it ${problem}`, "a path such as apps/cdi/cdi-operator.yaml");
  const parts = path.split("/");
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const part = parts.slice(0, depth).join("/");
    const facts = await lstat(join(root, part)).catch(whenAbsent);
    if (facts === undefined) break;
    if (facts.isSymbolicLink())
      throw badPath(path, `${part} is a symbolic link`, "use the real path, or replace the link");
    const isLast = depth === parts.length;
    if (isLast ? !facts.isFile() : !facts.isDirectory())
      throw badPath(path, `${part} is not a ${isLast ? "file" : "folder"}`, "choose another path");
  }
  return join(root, path);
}

/** Makes the folders on the way, which `vendoredPlace` has looked at. Nothing may wait under the name of the temporary file. */
export async function prepareFolder(place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  const facts = await lstat(`${place}.tmp`).catch(whenAbsent);
  // A killed run leaves a plain file, which the next run writes again.
  if (facts !== undefined && !facts.isFile())
    throw badPath(`${place}.tmp`, "it is in the way and no plain file", "remove it");
}

function whenAbsent(thrown: unknown): undefined {
  if (errnoOf(thrown) === "ENOENT") return undefined;
  throw thrown;
}

function badPath(path: string, why: string, remedy: string): CommandFailure {
  return new CommandFailure("vendor-path", `Cannot keep a vendored file at ${oneLine(path)}: ${why}`, { remedy });
}
