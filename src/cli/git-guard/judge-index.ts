import type { Git } from "./ask-git.ts";
import { deletionsOfIndex, filesOf } from "./count-deletions.ts";
import { deletionsAllowed, type DeletionLimits } from "./deletion-rule.ts";
import type { DeletionRefusal } from "./judge-range.ts";

/** Judges the next commit. `declared` is the number of deletions that its author declares. */
export async function judgeIndex(
  git: Git,
  declared: number | undefined,
  limits: DeletionLimits,
): Promise<DeletionRefusal | undefined> {
  const head = await git.commit("HEAD");
  // The first commit deletes nothing.
  if (head === undefined) return undefined;
  const deletions = await deletionsOfIndex(git);
  const files = await filesOf(git, head);
  const allowed = deletionsAllowed(files, limits);
  if (deletions.count <= allowed || deletions.count === declared) return undefined;
  return { what: "this commit", deletions, files, allowed, ...(declared === undefined ? {} : { declared }) };
}
