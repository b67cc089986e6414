import { dirname } from "node:path/posix";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/** What one look of one hand at the journal's network namespaces gave. */
export interface Sight {
  /** Whose namespace is still there. */
  readonly alive: ReadonlySet<AttachmentRecord>;
  /** At whose path there is nothing, or another namespace. Who is in neither set has something else at his path. */
  readonly gone: ReadonlySet<AttachmentRecord>;
  /** Folders in which the hand saw the very namespace that was attached: only there does "gone" mean gone. */
  readonly places: ReadonlySet<string>;
}

/** Whoever can say what a path leads to. */
export interface Eyes {
  stat(paths: readonly string[]): Promise<readonly (NetnsIdentity | undefined)[]>;
}

/** A frame holds 4,096 fields. */
const pathsMax = 1_000;

export async function lookAtNamespaces(eyes: Eyes, records: readonly AttachmentRecord[]): Promise<Sight> {
  const withPath = records.filter((record) => record.netns.path !== "");
  const alive = new Set<AttachmentRecord>();
  const gone = new Set<AttachmentRecord>();
  for (let at = 0; at < withPath.length; at += pathsMax) {
    const some = withPath.slice(at, at + pathsMax);
    const found = await statAll(
      eyes,
      some.map((record) => record.netns.path),
    );
    some.forEach((record, index) => {
      const identity = found[index];
      if (identity === "unknown") return;
      if (isThere(record, identity)) alive.add(record);
      else if (isGone(record, identity)) gone.add(record);
    });
  }
  // What Multus attached is known by its path only, and a path may be a file that a lost mount has uncovered: no proof.
  const proofs = [...alive].filter((record) => record.netns.identity !== undefined);
  return { alive, gone, places: new Set(proofs.map((record) => placeOf(record.netns.path))) };
}

/** One path that the hand cannot look at fails the whole order; the others are then looked at one by one. */
async function statAll(
  eyes: Eyes,
  paths: readonly string[],
): Promise<readonly (NetnsIdentity | "unknown" | undefined)[]> {
  try {
    return await eyes.stat(paths);
  } catch (thrown) {
    if (isHandLost(thrown)) throw thrown;
  }
  const found: (NetnsIdentity | "unknown" | undefined)[] = [];
  for (const path of paths) {
    const one = await eyes.stat([path]).catch((thrown: unknown) => {
      if (isHandLost(thrown)) throw thrown;
      return "unknown" as const;
    });
    found.push(one === "unknown" ? one : one[0]);
  }
  return found;
}

function isHandLost(thrown: unknown): boolean {
  return !(thrown instanceof LeveeError) || thrown.code === "hand-lost";
}

/**
 * The boot ID is not asked: some containers are shown another one than their host, and a namespace that is seen at its
 * path under its number is there, whatever the ID says. What Multus attached is known by its path only.
 */
function isThere({ netns }: AttachmentRecord, found: NetnsIdentity | undefined): boolean {
  return netns.identity === undefined ? found !== undefined : sameNetns(netns.identity, found);
}

/**
 * All namespaces of a boot are on one device. Something on another device is the file on which the namespace is mounted:
 * a hand that does not get the mounts made after its own start sees that of every younger pod.
 */
function isGone({ netns }: AttachmentRecord, found: NetnsIdentity | undefined): boolean {
  return found === undefined || found.device === netns.identity?.device;
}

/**
 * Where a namespace is kept. Two runtimes on one node keep theirs in different folders, and a hand may see one and not
 * the other; of a process's own namespace the process ID is no part of the place.
 */
export function placeOf(path: string): string {
  return dirname(path)
    .replace(/^\/var\/run(?=\/|$)/u, "/run")
    .replace(/^\/proc\/[^/]+/u, "/proc/*");
}
