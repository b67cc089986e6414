import { watch, type FSWatcher } from "node:fs";
import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { CniArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import { parseRequest } from "../../cni/verb.ts";
import type { Journal } from "../../state/journal/journal.ts";
import {
  hasOffline,
  offlineFolderOf,
  readOfflineFolder,
  rejectOffline,
  sweepOffline,
  removeOffline,
  type OfflineRecord,
} from "../../state/journal/offline-records.ts";
import { bytesField, decodeFrame, required } from "../../wire/frame.ts";
import { readCall } from "../../wire/messages.ts";

/** A DEL that a shim wrote down because it could not reach the daemon. */
export interface OfflineDelete {
  /** The file's name in the folder. */
  readonly name: string;
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly netns: string;
  readonly args: CniArgs;
  readonly cniPath: string;
  readonly config: JsonText;
}

/** Several writes in one go are read once. */
const settleMs = 50;
/** A record that could not be dealt with, or an event that was lost, is looked at again. */
const rescanMs = 10_000;

/** What a killed shim left half written is removed after this. */
const tornMsMin = 60_000;

/** The folder in which shims leave deletes and acknowledgements while the daemon is away. */
export class OfflineFolder {
  readonly #options: OfflineOptions;
  readonly #first = Promise.withResolvers<void>();
  #watcher: FSWatcher | undefined;
  /** Deletes that recovery has: every removal tells of a change, and a full folder would be read again with each. */
  readonly #handed = new Set<string>();
  #isReading = false;
  #cancelRead: Cancel | undefined;
  #stopRescan: Cancel = () => undefined;
  #onDelete: (request: OfflineDelete) => void = () => undefined;

  constructor(options: OfflineOptions) {
    this.#options = options;
  }

  /** Resolves when the folder has been read for the first time: before that nobody knows which deletes come before a call. */
  get ready(): Promise<void> {
    return this.#first.promise;
  }

  /** Deletes that are read and not done yet. */
  get waiting(): number {
    return this.#handed.size;
  }

  /** Reads the folder now and whenever it changes. Called once the socket listens, so that no shim falls in between. */
  async start(onDelete: (request: OfflineDelete) => void): Promise<void> {
    const { stateDir, clock, logger } = this.#options;
    this.#onDelete = onDelete;
    this.#watcher = watch(offlineFolderOf(stateDir), () => this.#readSoon());
    this.#watcher.on("error", (error) =>
      logger.error("The folder of offline records can no longer be watched", { reason: error.message }),
    );
    this.#stopRescan = clock.every(rescanMs, () => this.#readSoon());
    await this.#read();
    this.#first.resolve();
  }

  stop(): void {
    this.#cancelRead?.();
    this.#stopRescan();
    this.#watcher?.close();
  }

  async readAcknowledgements(): Promise<void> {
    await this.#each(["ack"], (record) => this.#acknowledge(record));
  }

  has(name: string): boolean {
    return hasOffline(this.#options.stateDir, name);
  }

  /** Whether the runtime has asked to delete this attachment while the daemon was away. */
  hasDelete(containerId: ContainerId, ifname: IfName): boolean {
    return this.has(deleteName(containerId, ifname));
  }

  /** What was asked for in this record is done, whatever its name says. */
  async drop(name: string): Promise<void> {
    await removeOffline(this.#options.stateDir, name);
    this.#handed.delete(name);
  }

  /** The attachment is gone, so a delete of it that somebody wrote down is done. */
  dropDelete(containerId: ContainerId, ifname: IfName): Promise<void> {
    return this.drop(deleteName(containerId, ifname));
  }

  /** After the first event, not after the last: a steady stream of records must not put off their reading. */
  #readSoon(): void {
    this.#cancelRead ??= this.#options.clock.after(settleMs, () => {
      this.#cancelRead = undefined;
      void this.#read();
    });
  }

  /** One reading at a time: two would deal with the same records. What changes meanwhile is read after it. */
  async #read(): Promise<void> {
    if (this.#isReading) {
      this.#readSoon();
      return;
    }
    this.#isReading = true;
    await this.#readOnce().finally(() => (this.#isReading = false));
  }

  async #readOnce(): Promise<void> {
    const { stateDir, clock } = this.#options;
    await sweepOffline(stateDir, clock.wallMs(), tornMsMin).catch((thrown: unknown) => this.#report("", thrown));
    await this.#each(["ack", "del"], (record) =>
      record.kind === "ack" ? this.#acknowledge(record) : this.#hand(record),
    );
  }

  /** One record that cannot be dealt with (a full disk, say) keeps neither the others nor the daemon from going on. */
  async #each(kinds: readonly OfflineRecord["kind"][], use: (record: OfflineRecord) => Promise<void>): Promise<void> {
    const report = (file: string, thrown: unknown): void => this.#report(file, thrown);
    try {
      const there = new Set<string>();
      const isKnown = (name: string): boolean => this.#handed.has(name) && there.add(name).has(name);
      const records = await readOfflineFolder(this.#options.stateDir, kinds, report, isKnown);
      if (kinds.includes("del")) this.#keepOnly(there);
      for (const record of records) {
        await use(record).catch((thrown: unknown) => report(record.name, thrown));
      }
    } catch (thrown) {
      report("", thrown);
    }
  }

  /** The others are gone by another hand than ours; one that comes again under the same name is a new one. */
  #keepOnly(there: ReadonlySet<string>): void {
    for (const name of this.#handed) if (!there.has(name)) this.#handed.delete(name);
  }

  #report(file: string, thrown: unknown): void {
    const reason = toLeveeError(thrown, "Reading").message;
    const what = file === "" ? "The folder of offline records" : "An offline record";
    this.#options.logger.error(`${what} could not be dealt with and is tried again`, { file, reason });
  }

  async #acknowledge(record: OfflineRecord): Promise<void> {
    const token = record.name.slice(0, -".ack".length);
    if (this.#options.journal.findByToken(token) !== undefined) await this.#options.journal.acknowledge(token);
    await this.drop(record.name);
  }

  async #hand(record: OfflineRecord): Promise<void> {
    let request: OfflineDelete;
    try {
      request = readDelete(record);
    } catch (thrown) {
      const reason = toLeveeError(thrown, "Reading").message;
      this.#options.logger.error("An offline record cannot be understood and is put aside", {
        file: record.name,
        reason,
      });
      await rejectOffline(this.#options.stateDir, record.name, reason);
      return;
    }
    this.#handed.add(record.name);
    this.#onDelete(request);
  }
}

export interface OfflineOptions {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly journal: Journal;
}

function readDelete(record: OfflineRecord): OfflineDelete {
  const [callBytes, configBytes] = record.frames;
  const call = readCall(decodeFrame(callBytes ?? new Uint8Array(0)));
  const configFrame = decodeFrame(configBytes ?? new Uint8Array(0));
  const request = parseRequest({ ...call, verb: "DEL" });
  if (request.verb !== "DEL") throw new TypeError("parseRequest answered for another verb");
  return {
    name: record.name,
    containerId: request.containerId,
    ifname: request.ifname,
    netns: request.netns ?? "",
    args: request.args,
    cniPath: request.cniPath,
    config: asJsonText(
      required(bytesField(configFrame, "config"), configFrame, "config"),
      `the configuration in ${record.name}`,
    ),
  };
}

function deleteName(containerId: ContainerId, ifname: IfName): string {
  // Neither part may hold a colon, so no two attachments share a name.
  return `${containerId}:${ifname}.del`;
}
