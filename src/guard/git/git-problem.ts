import { firstChars } from "../../base/short-text.ts";
import { foreignText } from "../detect/foreign-text.ts";
import type { GitEnd } from "./run-git.ts";

/**
 * `absent`: there is no git program. `unreachable`: the server did not answer; it may later. `refused`: the server or the
 * settings said no. `content`: the repository does not hold what was expected.
 */
type GitProblemKind = "absent" | "unreachable" | "refused" | "content";

export class GitProblem extends Error {
  override readonly name = "GitProblem";
  readonly kind: GitProblemKind;

  constructor(kind: GitProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Git's texts under LC_ALL=C when the server rejects us or we do not know the server. */
const refusals =
  /Authentication failed|Permission denied|Host key verification failed|returned error: 40[13]|could not read (?:Username|Password)|access denied|not (?:authorized|allowed)|certificate|transport '\w+' not allowed/i;
const reasonCharsMax = 400;
const linesMax = 6;
/** Lines without information: frames, hints, and git's addition to every ssh failure. */
const ornament =
  /^(?:@+$|[-=*#]+$|hint:|To |warning: filtering not recognized|Please make sure you have the correct access|and the repository exists)/;

/** Describes a failed run of git. */
export function problemOf(end: GitEnd, doing: string): GitProblem {
  if (end.startError !== undefined)
    return new GitProblem("absent", `Cannot ${doing}: the program git cannot be started (${end.startError})`);
  if (end.stopped !== undefined) return new GitProblem("unreachable", `Cannot ${doing}: ${end.stopped}`);
  const kind = refusals.test(end.stderr) ? "refused" : "unreachable";
  const why = gitReason(end.stderr) || `git ended with ${end.exitCode ?? "a signal"}`;
  return new GitProblem(kind, `Cannot ${doing}: ${why}`);
}

/** A text of git or a server on one line, without control characters and passwords. */
export function gitReason(text: string): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^(?:remote|fatal|error): */, "").trim())
    .filter((line) => line !== "" && !ornament.test(line));
  // The last lines matter. Remove passwords before cutting: half of one could no longer be recognised.
  const said = foreignText(lines.slice(-linesMax).join("; "), reasonCharsMax * 4);
  return firstChars(said.replace(/:\/\/[^/@\s]*@/g, "://"), reasonCharsMax);
}
