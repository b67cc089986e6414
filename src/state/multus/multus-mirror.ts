import { disk } from "../../base/disk/disk.ts";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { ContainerId } from "../../base/brand.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { AttachmentRecord } from "../journal/attachment-record.ts";
import { resultFileText, scratchFileText } from "./multus-files.ts";
import { resultsFolderOf } from "./multus-result-file.ts";

/**
 * Writes the files that Multus would have written, so that a node can go back to Multus with running pods.
 * They are not synced, and a failure never fails the attachment.
 */
export class MultusMirror {
  readonly #cniDir: string;
  readonly #logger: Logger;
  /** The last job of each container, so that its files are written and removed in order. */
  readonly #lanes = new Map<ContainerId, Promise<unknown>>();
  #isFailing = false;

  constructor(cniDir: string, logger: Logger) {
    this.#cniDir = cniDir;
    this.#logger = logger;
  }

  /**
   * Repairs the mirror after a killed daemon: removes temporary files and results of networks that a running pod has lost,
   * and calls `write` for each attachment with missing files. Call it once, before any other write.
   */
  async repair(records: readonly AttachmentRecord[], write: (record: AttachmentRecord) => void): Promise<void> {
    const present = new Set<string>();
    for (const folder of [this.#cniDir, resultsFolderOf(this.#cniDir)]) {
      for (const name of await disk.readdir(folder).catch(() => [])) {
        if (isTemporary(name)) await removeFile(join(folder, name)).catch(() => undefined);
        else present.add(join(folder, name));
      }
    }
    const isWhole = (record: AttachmentRecord): boolean =>
      [this.#scratchPath(record), ...this.#resultPaths(record)].every((path) => present.has(path));
    for (const record of records) {
      if (record.phase === "acknowledged" && !isWhole(record)) write(record);
    }
    const kept = new Set(records.flatMap((record) => this.#resultPaths(record)));
    const ours = records.filter(({ origin }) => origin === "levee").map(({ containerId }) => `-${containerId}-`);
    for (const path of present)
      if (!kept.has(path) && ours.some((part) => path.includes(part))) await removeFile(path).catch(() => undefined);
  }

  /** Called at the commit, which need not wait for it. Resolves to the error, if any, and never rejects. */
  write(record: AttachmentRecord): Promise<LeveeError | undefined> {
    return this.#inLane(record.containerId, "write", async () => {
      // The scratch file comes last, so that its results are always there.
      for (const [position, path] of this.#resultPaths(record).entries()) {
        await writeFile(path, resultFileText(record, position));
      }
      await writeFile(this.#scratchPath(record), scratchFileText(record));
    });
  }

  /** Called when the networks of a running pod have changed. */
  change(before: AttachmentRecord, now: AttachmentRecord): Promise<LeveeError | undefined> {
    const kept = new Set(this.#resultPaths(now));
    const gone = this.#resultPaths(before).filter((path) => !kept.has(path));
    void this.write(now);
    return this.#inLane(now.containerId, "remove", async () => void (await Promise.all(gone.map(removeFile))));
  }

  /** Called at every undo. */
  remove(record: AttachmentRecord): Promise<LeveeError | undefined> {
    return this.#inLane(record.containerId, "remove", async () => {
      await Promise.all([this.#scratchPath(record), ...this.#resultPaths(record)].map(removeFile));
    });
  }

  /** Resolves when all current jobs are done. */
  async settled(): Promise<void> {
    await Promise.all(this.#lanes.values());
  }

  #inLane(
    containerId: ContainerId,
    doing: "write" | "remove",
    job: () => Promise<void>,
  ): Promise<LeveeError | undefined> {
    const before = this.#lanes.get(containerId) ?? Promise.resolve();
    const mine = before.then(() => this.#attempt(doing, job));
    this.#lanes.set(containerId, mine);
    void mine.then(() => {
      if (this.#lanes.get(containerId) === mine) this.#lanes.delete(containerId);
    });
    return mine;
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
      // Logged once per outage, not once per pod.
      if (!this.#isFailing) this.#logger.warn(message);
      this.#isFailing = true;
      return new LeveeError("io-failed", message, { cause });
    }
  }
}

async function writeFile(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  // The dot marks it as temporary: Multus and the import take every other name in the folder for a container.
  const temporary = join(folder, `${temporaryPrefix}${path.slice(folder.length + 1).slice(-nameCharsMax)}.tmp`);
  const options = { mode: 0o600, sync: false, temporary };
  try {
    await writeFileAtomically(path, content, options);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
    await disk.mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFileAtomically(path, content, options);
  }
}

const temporaryPrefix = ".levee-";

function isTemporary(name: string): boolean {
  return name.startsWith(temporaryPrefix) && name.endsWith(".tmp");
}

/** Keeps the temporary name within the 255 bytes of a file name, even with an interface name that is not ASCII. */
const nameCharsMax = 230;

async function removeFile(path: string): Promise<void> {
  await disk.unlink(path).catch((cause: unknown) => {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  });
}

/** The names were checked when the call came in. They are checked again, because here they become paths. */
function fileName(name: string): string {
  if (!name.includes("/") && !name.includes("\0") && !name.startsWith(".") && name !== "") return name;
  throw new LeveeError("internal", `Cannot use ${JSON.stringify(name)} as a file name`);
}
