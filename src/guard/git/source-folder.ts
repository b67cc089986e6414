/** The folder of an Application's path, without a trailing slash; undefined for an unusable path. */
export function sourceFolder(path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.startsWith("/") || parts.includes("..") || parts.length > partsMax) return undefined;
  // Plain names only: git gives some characters a meaning, such as a leading colon.
  return parts.every((part) => /^[\w+@][\w .+@-]*$|^\.[\w.+@-]+$/.test(part)) ? parts.join("/") : undefined;
}

/** Whether Argo CD reads this file as part of the folder. */
export function isInFolder(path: string, folder: string, isRecursive: boolean): boolean {
  const start = folder === "" ? "" : `${folder}/`;
  if (!path.startsWith(start)) return false;
  return isRecursive || !path.slice(start.length).includes("/");
}

/** No repository is deeper. */
const partsMax = 32;
