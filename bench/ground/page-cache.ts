import { writeFileSync } from "node:fs";
import { run } from "../../test/e2e/run.ts";

/** On a new node the kernel reads a container's program text and charges it to the container itself. */
export function dropPageCache(): void {
  run("sync");
  writeFileSync("/proc/sys/vm/drop_caches", "3");
}
