/** The cgroups of v2 in which a hand runs its plugins. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { HandIdentity } from "../../src/wire/messages.ts";

const root = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((folder) => existsSync(`${folder}/cgroup.controllers`));

/** A plugin's line that starts a child with a session of its own, and notes its process ID. */
export const escaping = `export DIR\nsetsid sh -c 'echo $$ > "$DIR/escaped"; exec sleep 30' </dev/null >/dev/null 2>&1 &`;

/** Whether this machine has v2, the right to make a cgroup there, and a kernel that can kill one. */
export function canMakeLeaf(): boolean {
  if (root === undefined) return false;
  const folder = `${root}/levee-test-${process.pid}`;
  try {
    mkdirSync(folder);
  } catch {
    // Read-only, as in most containers.
    return false;
  }
  const canKill = existsSync(`${folder}/cgroup.kill`);
  rmdirSync(folder);
  return canKill;
}

/** Leaves are made beside the shim's own processes, and the shim is in this process's cgroup. */
export function leavesOf({ pid, pidStart }: HandIdentity): readonly string[] {
  const path = /^0::\/(.*)$/mu.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? "";
  const folder = join(root ?? "/nowhere", path);
  // No deeper: the cgroups of other tests come and go meanwhile.
  const names = readdirSync(folder).filter((name) => name.startsWith(`levee-run-${pid}-${pidStart}-`));
  return names.map((name) => join(folder, name));
}
