import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomically } from "../../../base/atomic-file.ts";
import { errnoOf } from "../../../base/errors.ts";
import { CommandFailure, usageFailure } from "../../failure.ts";
import type { Shell } from "../../shell.ts";

/** Checked before the storm, not after it. */
export function requireReportFolder(path: string | undefined): void {
  if (path === undefined || existsSync(dirname(path))) return;
  throw usageFailure(`Cannot write the report ${path}: there is no folder ${dirname(path)}`, "--report storm.html");
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
