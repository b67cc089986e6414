import { globSync } from "node:fs";
import { normalize } from "node:path";

/**
 * Tests in which the kernel kills a process for memory. The kernel counts such kills for the whole machine, so a plugin that
 * another test kills on purpose would look like one of them. These tests run alone, and only when they are named.
 */
export const oomSuffix = ".oom.test.ts";

/** Those below these paths, or all. A path that names one is not looked into: it runs by its name. */
export function oomFiles(root: string, below: readonly string[] = [""]): readonly string[] {
  const places = below
    .filter((path) => !path.endsWith(oomSuffix))
    .map((path) => normalize(path).replace(/^\.?\//u, ""));
  return globSync(`{src,test,scripts,bench}/**/*${oomSuffix}`, { cwd: root })
    .filter((file) => places.some((place) => place === "." || file.startsWith(place)))
    .map((file) => `./${file}`);
}
