import { closeSync, existsSync, openSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomically } from "../../../base/atomic-file.ts";
import { errnoOf } from "../../../base/errors.ts";
import { CommandFailure, usageFailure } from "../../failure.ts";
import type { Shell } from "../../shell.ts";

/** Checked before the storm, not after it. */
export function requireReportFolder(path: string | undefined): void {
  if (path === undefined) return;
  const folder = dirname(path);
  if (path === "") throw usageFailure("Cannot write a report without a name", "--report storm.html");
  if (!existsSync(folder))
    throw usageFailure(`Cannot write the report ${path}: there is no folder ${folder}`, "--report storm.html");
  // The report takes the place of what is there: not of a folder, and never of a device such as /dev/null.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw usageFailure(`Cannot write the report ${path}: this is no regular file`, "--report storm.html");
  const trial = `${path}.tmp`;
  try {
    // Root may write where the mode of a folder says no, and may not in /proc: only trying tells.
    closeSync(openSync(trial, "w"));
    unlinkSync(trial);
  } catch (cause) {
    throw usageFailure(
      `Cannot write the report ${path}: the folder ${folder} takes no file (${errnoOf(cause) ?? String(cause)})`,
      "--report storm.html",
    );
  }
}

export async function writeReport({ stderr }: Pick<Shell, "stderr">, path: string, page: string): Promise<void> {
  try {
    await writeFileAtomically(path, page, { mode: 0o644, sync: false });
  } catch (cause) {
    throw new CommandFailure(errnoOf(cause) ?? "io-failed", `Cannot write the report ${path}`, {
      remedy: "--report with a file in a folder that exists and has room",
      cause,
    });
  }
  stderr.write(`The report is ${path}\n`);
}
