import { dirname } from "node:path/posix";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/** The result of a hand's look at the journal's network namespaces. */
export interface Sight {
  /** Records whose namespace exists. */
  readonly alive: ReadonlySet<AttachmentRecord>;
  /** Records with nothing, or another namespace, at their path. A record in neither set has something else there. */
  readonly gone: ReadonlySet<AttachmentRecord>;
  /** Folders in which the hand saw a namespace by its recorded identity. Only there does "gone" mean gone. */
  readonly places: ReadonlySet<string>;
}

interface Eyes {
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
  // Multus' attachments have no identity, and their path may be a file that a lost mount uncovered: no proof.
  const proofs = [...alive].filter((record) => record.netns.identity !== undefined);
  return { alive, gone, places: new Set(proofs.map((record) => placeOf(record.netns.path))) };
}

/** One path that the hand cannot read fails the whole order; then each path is read alone. */
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
 * Ignores the boot ID: some containers see another one than their host, and a namespace seen at its path with its number
 * exists in any case. Attachments of Multus are known only by their path.
 */
function isThere({ netns }: AttachmentRecord, found: NetnsIdentity | undefined): boolean {
  return netns.identity === undefined ? found !== undefined : sameNetns(netns.identity, found);
}

/**
 * All namespaces of a boot are on one device. A file on another device is the mount point itself: a hand that does not
 * receive mounts made after its start sees only that for every younger pod.
 */
function isGone({ netns }: AttachmentRecord, found: NetnsIdentity | undefined): boolean {
  return found === undefined || found.device === netns.identity?.device;
}

/**
 * The folder of a namespace. Two runtimes on one node use different folders, and a hand may see only one of them. The
 * process ID of a /proc path is not part of the place.
 */
export function placeOf(path: string): string {
  return dirname(path)
    .replace(/^\/var\/run(?=\/|$)/u, "/run")
    .replace(/^\/proc\/[^/]+/u, "/proc/*");
}
