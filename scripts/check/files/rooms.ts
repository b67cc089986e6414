import { dirname } from "node:path/posix";
import { fileRule } from "../rule.ts";

/** A reader searches a longer listing instead of reading it. */
const filesMax = 25;
const source = /^(?:src|console|test|bench|scripts|shim)\/.*(?:(?<!\.test|\.fixture)\.tsx?|\.rs)$/u;

/** A folder has so few source files that its listing shows the design. */
export const rooms = fileRule("rooms", (tree) => {
  const counts = new Map<string, number>();
  for (const path of tree.files.filter((file) => source.test(file)))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > filesMax)
    .map(([file, count]) => ({
      file,
      line: 0,
      message: `${count} source files, at most ${filesMax} are allowed`,
      remedy: "Give the files that belong together a folder of their own",
    }));
});
