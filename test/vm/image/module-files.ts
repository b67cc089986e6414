import { basename } from "node:path";

/** The files of a kernel's folder of modules that say what needs what, and what the kernel has built in. */
export interface ModuleLists {
  readonly dependencies: string;
  readonly builtIn: string;
}

/** The files of the modules and of all that they need, in the order in which they are loaded. What is built in has none. */
export function moduleFiles(names: readonly string[], { dependencies, builtIn }: ModuleLists): readonly string[] {
  // Each line is a file, and then what it needs, the first to load last.
  const chains = new Map(
    dependencies.split("\n").map((line) => {
      const [file = "", needs = ""] = line.split(":");
      return [moduleName(file), [file, ...needs.split(" ").filter((path) => path !== "")]] as const;
    }),
  );
  const isBuiltIn = new Set(builtIn.split("\n").map(moduleName));
  const files = names.flatMap((name) => {
    const chain = chains.get(name);
    if (chain === undefined && !isBuiltIn.has(name)) throw new Error(`The kernel has no module ${name}`);
    return chain?.toReversed() ?? [];
  });
  return [...new Set(files)];
}

/** As the kernel writes it, whichever way its file is packed. */
function moduleName(path: string): string {
  return basename(path)
    .replace(/\.ko(?:\.xz)?$/u, "")
    .replaceAll("-", "_");
}
