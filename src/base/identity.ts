/** Identities of things whose path or number may be given to something else later. */

/** A network namespace. Two paths may lead to the same one, and one path may lead to another one tomorrow. */
export interface NetnsIdentity {
  readonly device: bigint;
  /** The kernel gives the number of a dead namespace to a new one within moments. */
  readonly inode: bigint;
  /** Unique in its boot. Kernels before 5.14 do not tell it, and shims before protocol 4 do not send it. */
  readonly cookie?: bigint | undefined;
  /** Instead of the cookie, where the path is a mount: the last change of its inode. */
  readonly ctimeNs?: bigint | undefined;
}

/** A process and the session it leads. Means something only within one PID namespace and one boot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot, from /proc/PID/stat. */
  readonly pidStart: number;
  readonly pidNamespace: number;
}

/**
 * Whether two looks may have found the same namespace: the numbers are equal, and nothing that both looks know tells them
 * apart.
 */
export function sameNetns(left: NetnsIdentity | undefined, right: NetnsIdentity | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  if (left.device !== right.device || left.inode !== right.inode) return false;
  if (left.cookie !== undefined && right.cookie !== undefined) return left.cookie === right.cookie;
  return left.ctimeNs === undefined || right.ctimeNs === undefined || left.ctimeNs === right.ctimeNs;
}

/** Whether they are the same for certain. */
export function isCertainlySameNetns(left: NetnsIdentity | undefined, right: NetnsIdentity | undefined): boolean {
  return sameNetns(left, right) && left?.cookie !== undefined && right?.cookie !== undefined;
}
