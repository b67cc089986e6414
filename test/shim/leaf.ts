/** The cgroups of v2 in which a hand runs its plugins. */
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
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

export function leavesOf({ pid, pidStart }: HandIdentity): readonly string[] {
  const glob = new Bun.Glob(`**/levee-run-${pid}-${pidStart}-*`);
  return [...glob.scanSync({ cwd: root ?? "/nowhere", onlyFiles: false, absolute: true })];
}
