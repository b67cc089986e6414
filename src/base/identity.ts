/** Identities of things whose path or number may be given to something else later. */

/** A network namespace. Two paths may lead to the same one, and one path may lead to another one tomorrow. */
export interface NetnsIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

/** A process and the session it leads. Means something only within one PID namespace and one boot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot, from /proc/PID/stat. */
  readonly pidStart: number;
  readonly pidNamespace: number;
}

export function sameNetns(left: NetnsIdentity | undefined, right: NetnsIdentity | undefined): boolean {
  return left !== undefined && right !== undefined && left.device === right.device && left.inode === right.inode;
}
