import { mkdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomicallyNow } from "../base/atomic-file.ts";
import { errnoOf, LeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { AttachmentRecord } from "./attachment-record.ts";
import { resultFileText, scratchFileText } from "./multus-files.ts";
import { resultsFolderOf } from "./multus-result-file.ts";

/**
 * Writes what Multus would have written, so that a node can go back to it with pods running.
 * Nothing of ours reads these files; they are not synced, and a failure never fails the attachment.
 */
export class MultusMirror {
  readonly #cniDir: string;
  readonly #logger: Logger;
  #isFailing = false;

  constructor(cniDir: string, logger: Logger) {
    this.#cniDir = cniDir;
    this.#logger = logger;
  }

  /** Called after the commit. Says what went wrong, if anything did. */
  write(record: AttachmentRecord): LeveeError | undefined {
    return this.#attempt("write", () => {
      writeFile(this.#scratchPath(record), scratchFileText(record));
      for (const [position, path] of this.#resultPaths(record).entries()) {
        writeFile(path, resultFileText(record, position));
      }
    });
  }

  /** Called at DEL, and when an attachment is undone. */
  remove(record: AttachmentRecord): LeveeError | undefined {
    return this.#attempt("remove", () => {
      for (const path of [this.#scratchPath(record), ...this.#resultPaths(record)]) removeFile(path);
    });
  }

  #scratchPath(record: AttachmentRecord): string {
    return join(this.#cniDir, fileName(record.containerId));
  }

  #resultPaths(record: AttachmentRecord): readonly string[] {
    const folder = resultsFolderOf(this.#cniDir);
    return record.chains.map((chain) =>
      join(folder, fileName(`${chain.confName}-${record.containerId}-${chain.ifname}`)),
    );
  }

  #attempt(doing: "write" | "remove", job: () => void): LeveeError | undefined {
    try {
      job();
      this.#isFailing = false;
      return undefined;
    } catch (cause) {
      const message = `Cannot ${doing} the files Multus would need in ${this.#cniDir}: ${(cause as Error).message}`;
      // Said once per outage, not once per pod.
      if (!this.#isFailing) this.#logger.warn(message);
      this.#isFailing = true;
      return new LeveeError("io-failed", message, { cause });
    }
  }
}

function writeFile(path: string, content: string): void {
  const folder = dirname(path);
  // A dot in front: Multus and our import take every other name in the folder for a container.
  const temporary = join(folder, `.levee-${path.slice(folder.length + 1).slice(-nameCharsMax)}.tmp`);
  try {
    writeFileAtomicallyNow(path, content, { mode: 0o600, temporary });
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileAtomicallyNow(path, content, { mode: 0o600, temporary });
  }
}

/** With what is put around it, and an interface name that is not ASCII, within the 255 bytes of a file name. */
const nameCharsMax = 230;

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}

/** These names were checked when the call came in; once more, because here they become paths. */
function fileName(name: string): string {
  if (!name.includes("/") && !name.includes("\0") && !name.startsWith(".") && name !== "") return name;
  throw new LeveeError("internal", `Cannot use ${JSON.stringify(name)} as a file name`);
}
