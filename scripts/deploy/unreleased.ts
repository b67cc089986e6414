import type { Read } from "./kustomization.ts";

/** The name of an annotation that the API server refuses. Objects of the repository that need an image have it. */
export const unreleasedMark = "no image here: apply the same file of a release instead";

const markLines = new RegExp(`^ +annotations:\\n(?: +#.*\\n)* +"${unreleasedMark}": ""\\n`, "gmu");

/** Reads the files of the repository without the mark, so that the API server accepts what is made of them. */
export function readUnmarked(read: Read): Read {
  return (path) => read(path)?.replaceAll(markLines, "");
}
