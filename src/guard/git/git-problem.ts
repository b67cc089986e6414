import { firstChars } from "../../base/short-text.ts";
import { foreignText } from "../detect/foreign-text.ts";
import type { GitEnd } from "./run-git.ts";

/**
 * Why something in git could not be done.
 * `absent`: there is no git program. `unreachable`: the server did not answer; later it may. `refused`: it answered no.
 * `content`: what is in the repository is not what was expected.
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

/** What git says when the server knows us and does not want us, or we do not know the server. Texts of LC_ALL=C. */
const refusals =
  /Authentication failed|Permission denied|Host key verification failed|returned error: 40[13]|could not read (?:Username|Password)|access denied|not (?:authorized|allowed)|certificate|transport '\w+' not allowed/i;
const reasonCharsMax = 400;
const linesMax = 6;
/** Lines that say nothing: frames, hints, and what git adds to every failure of ssh. */
const ornament =
  /^(?:@+$|[-=*#]+$|hint:|To |warning: filtering not recognized|Please make sure you have the correct access|and the repository exists)/;

/** A run of git that did not succeed, in words. */
export function problemOf(end: GitEnd, doing: string): GitProblem {
  if (end.startError !== undefined)
    return new GitProblem("absent", `Cannot ${doing}: the program git cannot be started (${end.startError})`);
  if (end.stopped !== undefined) return new GitProblem("unreachable", `Cannot ${doing}: ${end.stopped}`);
  const kind = refusals.test(end.stderr) ? "refused" : "unreachable";
  const why = gitReason(end.stderr) || `git ended with ${end.exitCode ?? "a signal"}`;
  return new GitProblem(kind, `Cannot ${doing}: ${why}`);
}

/** What a server or git wrote, on one line, without control characters and without what could be a password. */
export function gitReason(text: string): string {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^(?:remote|fatal|error): */, "").trim())
    .filter((line) => line !== "" && !ornament.test(line));
  // What matters is said last. Passwords go before it is cut: half of one has no end by which it is found.
  const said = foreignText(lines.slice(-linesMax).join("; "), reasonCharsMax * 4);
  return firstChars(said.replace(/:\/\/[^/@\s]*@/g, "://"), reasonCharsMax);
}
