import { dirname } from "node:path/posix";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { FoundFile } from "../../wire/outcome.ts";
import { isSuperseded } from "../undo/netns-to-pass.ts";

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
  stat(paths: readonly string[]): Promise<readonly (FoundFile | undefined)[]>;
}

/** A frame holds 4,096 fields. */
const pathsMax = 1_000;

export async function lookAtNamespaces(
  eyes: Eyes,
  records: readonly AttachmentRecord[],
  journal: Pick<Journal, "inNetns">,
): Promise<Sight> {
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
      if (isThere(record, identity, journal)) alive.add(record);
      else if (isGone(record, identity)) gone.add(record);
    });
  }
  // Multus' attachments have no identity, and their path may be a file that a lost mount uncovered: no proof.
  const seen = [...alive].flatMap(({ netns }) => (netns.identity === undefined ? [] : netns.path));
  return { alive, gone, places: placesOf(seen) };
}

/** The folders of these paths. Nearly all namespaces of a node are in one. */
function placesOf(paths: readonly string[]): ReadonlySet<string> {
  const places = new Set<string>();
  let last = "";
  for (const path of paths) {
    const isBesideLast = last !== "" && path.length > last.length && path.startsWith(last);
    if (isBesideLast && !path.includes("/", last.length)) continue;
    const folder = dirname(path);
    places.add(placeOfFolder(folder));
    last = folder.endsWith("/") ? folder : `${folder}/`;
  }
  return places;
}

/** One path that the hand cannot read fails the whole order; then each path is read alone. */
async function statAll(eyes: Eyes, paths: readonly string[]): Promise<readonly (FoundFile | "unknown" | undefined)[]> {
  try {
    return await eyes.stat(paths);
  } catch (thrown) {
    if (isHandLost(thrown)) throw thrown;
  }
  const found: (FoundFile | "unknown" | undefined)[] = [];
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
function isThere(
  record: AttachmentRecord,
  found: FoundFile | undefined,
  journal: Pick<Journal, "inNetns">,
): found is FoundFile {
  const { identity } = record.netns;
  if (identity === undefined) return found !== undefined && found.isNetns !== false;
  if (found === undefined || !sameNetns(identity, found)) return false;
  return !isSuperseded(record, found, { bootId: record.bootId, journal });
}

/**
 * For a record that is not there. A later container in its namespace, and another cookie, prove that the numbers were
 * used again; another time of the inode does not, as anybody may touch the file.
 *
 * All namespaces of a boot are on one device. A file on another device is the mount point itself: a hand that does not
 * receive mounts made after its start sees only that for every younger pod.
 */
function isGone({ netns: { identity } }: AttachmentRecord, found: FoundFile | undefined): boolean {
  if (found === undefined) return true;
  if (found.device !== identity?.device) return false;
  const isToldApartByTime = identity.cookie === undefined || found.cookie === undefined;
  return found.inode !== identity.inode || sameNetns(identity, found) || !isToldApartByTime;
}

/**
 * The folder of a namespace. Two runtimes on one node use different folders, and a hand may see only one of them. The
 * process ID of a /proc path is not part of the place.
 */
export function placeOf(path: string): string {
  return placeOfFolder(dirname(path));
}

function placeOfFolder(folder: string): string {
  return folder.replace(/^\/var\/run(?=\/|$)/u, "/run").replace(/^\/proc\/[^/]+/u, "/proc/*");
}
