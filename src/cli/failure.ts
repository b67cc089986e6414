import { errnoOf, errorCatalogue, LeveeError } from "../base/errors.ts";
import { KubeError } from "../kube/client/api.ts";
import { kubeRemedy } from "./cluster/kube-remedy.ts";
import { oneLine, plainText } from "../base/plain-text.ts";

/**
 * 1 and 2 follow kubectl's convention; 130 is what shells use for Ctrl-C. Commands on the cluster add 3 for a cluster that
 * cannot be reached or refuses this user, and 4 for a missing approval.
 */
export const exitCode = { ok: 0, failed: 1, usage: 2, unreachable: 3, wordMissing: 4, interrupted: 130 } as const;

/** An error for the person at the terminal: what went wrong, its code, and what to try next. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly code: string;
  readonly remedy: string;
  readonly exitCode: number;
  /** Lines to show as they are, such as the end of a log. */
  readonly details: string;
  /** The command's own answer already says it: only the exit status follows. */
  readonly isTold: boolean;

  constructor(code: string, message: string, options: FailureFacts = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remedy = options.remedy ?? "";
    this.exitCode = options.exitCode ?? exitCode.failed;
    this.details = options.details ?? "";
    this.isTold = options.isTold ?? false;
  }
}

interface FailureFacts {
  readonly remedy?: string;
  readonly exitCode?: number;
  readonly details?: string;
  readonly isTold?: boolean;
  readonly cause?: unknown;
}

export function usageFailure(message: string, remedy: string): CommandFailure {
  return new CommandFailure("usage", message, { remedy, exitCode: exitCode.usage });
}

export function interruptedFailure(doing: string, facts: Pick<FailureFacts, "remedy"> = {}): CommandFailure {
  return new CommandFailure("interrupted", `Interrupted while ${doing}`, { ...facts, exitCode: exitCode.interrupted });
}

/** The lines on stderr for an error. Messages may quote a plugin, so control characters are removed. */
export function failureText(thrown: unknown): string {
  const failure = toFailure(thrown);
  const details = plainText(failure.details).trimEnd();
  const lines =
    details === ""
      ? ""
      : details
          .split("\n")
          .map((line) => `\n  | ${line}`)
          .join("");
  const remedy = failure.remedy === "" ? "" : `\n  try: ${oneLine(failure.remedy)}`;
  return `Error: ${oneLine(failure.message)} (${oneLine(failure.code)})${lines}${remedy}\n`;
}

export function toFailure(thrown: unknown): CommandFailure {
  if (thrown instanceof CommandFailure) return thrown;
  if (thrown instanceof KubeError)
    return new CommandFailure(thrown.code, thrown.message, { remedy: kubeRemedy(thrown), cause: thrown });
  if (thrown instanceof LeveeError) return new CommandFailure(thrown.code, thrown.message, { cause: thrown });
  const errno = errnoOf(thrown);
  if (errno !== undefined)
    return new CommandFailure(errno, (thrown as Error).message, { remedy: remedyForErrno(errno), cause: thrown });
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CommandFailure("internal", message, {
    remedy: "report this as a bug in Levee, with the command line",
    cause: thrown,
  });
}

/** `CNI code 101, network-unknown` for a number in the catalogue, `CNI code 42` for any other. */
export function cniCodeName(number: number): string {
  const known = Object.entries(errorCatalogue).find(([, row]) => row.cni === number);
  return known === undefined ? `CNI code ${number}` : `CNI code ${number}, ${known[0]}`;
}

function remedyForErrno(errno: string): string {
  const remedies: Readonly<Record<string, string>> = {
    EACCES: "run the command as root",
    EPERM: "run the command as root",
    ENOSPC: "free space on the disk, then repeat the command",
    EROFS: "choose a writable folder with --state-dir and --directory",
  };
  return remedies[errno] ?? "";
}
