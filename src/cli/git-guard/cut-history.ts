import { CommandFailure } from "../failure.ts";
import { cannotTell, type Git } from "./ask-git.ts";

/**
 * Throws if one of these commits without a parent has one in truth. At the edge of a shallow clone git shows a commit as
 * if it were the first, so it would seem to delete nothing.
 */
export async function refuseCutHistory(git: Git, roots: readonly string[]): Promise<void> {
  for (const root of roots) {
    const [header = ""] = (await git.text("cat-file", "commit", root)).split("\n\n");
    if (/^parent /m.test(header)) throw shallowFailure(`it has commit ${root.slice(0, 12)} without its parent`);
  }
}

/** Throws if the point where two branches parted is missing because the clone is shallow. */
export async function refuseShallow(git: Git, base: string): Promise<void> {
  if ((await git.text("rev-parse", "--is-shallow-repository")) === "true")
    throw shallowFailure(`it does not reach back to where the branch left ${base}`);
}

function shallowFailure(why: string): CommandFailure {
  return new CommandFailure("git-failed", `Cannot judge in a shallow clone: ${why}`, {
    exitCode: cannotTell,
    remedy:
      "git fetch --unshallow origin; or let CI clone everything (fetch-depth: 0 on GitHub, GIT_DEPTH: 0 on GitLab)",
  });
}
