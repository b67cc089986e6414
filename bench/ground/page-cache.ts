import { writeFileSync } from "node:fs";
import { run } from "../../test/e2e/run.ts";

/** On a fresh node a container's program text is read, and charged to the container itself. */
export function dropPageCache(): void {
  run("sync");
  writeFileSync("/proc/sys/vm/drop_caches", "3");
}
