import { mkdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../base/atomic-file.ts";
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
  write(record: AttachmentRecord): Promise<LeveeError | undefined> {
    return this.#attempt("write", async () => {
      await writeFile(this.#scratchPath(record), scratchFileText(record));
      for (const [position, path] of this.#resultPaths(record).entries())
        await writeFile(path, resultFileText(record, position));
    });
  }

  /** Called at DEL, and when an attachment is undone. */
  remove(record: AttachmentRecord): Promise<LeveeError | undefined> {
    return this.#attempt("remove", async () => {
      for (const path of [this.#scratchPath(record), ...this.#resultPaths(record)]) await removeFile(path);
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

  async #attempt(doing: "write" | "remove", job: () => Promise<void>): Promise<LeveeError | undefined> {
    try {
      await job();
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

async function writeFile(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A dot in front: Multus and our import take every other name in the folder for a container.
  const temporary = join(folder, `.levee-${path.slice(folder.length + 1)}.tmp`.slice(-nameBytesMax));
  await writeFileAtomically(path, content, { mode: 0o600, sync: false, temporary });
}

const nameBytesMax = 255;

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((cause: unknown) => {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  });
}

/** These names were checked when the call came in; once more, because here they become paths. */
function fileName(name: string): string {
  if (!name.includes("/") && !name.includes("\0") && !name.startsWith(".") && name !== "") return name;
  throw new LeveeError("internal", `Cannot use ${JSON.stringify(name)} as a file name`);
}
