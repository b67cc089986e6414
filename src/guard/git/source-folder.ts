/** The folder that an Application's path means, without a slash at its end; undefined for one that is no such folder. */
export function sourceFolder(path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..") || parts.length > partsMax) return undefined;
  // Names that a person types. Nothing that git reads in another way, such as a colon at the beginning.
  return parts.every((part) => /^[\w+@][\w .+@-]*$|^\.[\w.+@-]+$/.test(part)) ? parts.join("/") : undefined;
}

/** Whether a file is one that Argo CD reads in this folder. */
export function isInFolder(path: string, folder: string, isRecursive: boolean): boolean {
  const start = folder === "" ? "" : `${folder}/`;
  if (!path.startsWith(start)) return false;
  return isRecursive || !path.slice(start.length).includes("/");
}

/** Deeper than anybody's repository. */
const partsMax = 32;
