import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { CommandFailure, exitCode } from "../failure.ts";

/** More than a person writes, and little enough to be read at once. */
const bytesMax = 1024 ** 2;

/** The text of a file that somebody named. A pipe is not waited for, and a device is not read. */
export async function textOfFile(path: string, what: "model" | "scenario", remedy: string): Promise<string> {
  try {
    return (await readRegularFile(path, { bytesMax, followLinks: true })).toString("utf8");
  } catch (cause) {
    const errno = errnoOf(cause);
    const why = errno === "ENOENT" ? ": there is no such file" : "";
    throw new CommandFailure(errno ?? "io-failed", `Cannot read the ${what} ${path}${why}`, {
      ...(cause instanceof LeveeError ? { details: cause.message } : {}),
      remedy,
      exitCode: exitCode.usage,
      cause,
    });
  }
}
