import { disk } from "../../base/disk/disk.ts";
import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { NetnsIdentity } from "../../base/identity.ts";
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
  writeOfflineDelete,
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
  /** The namespace that the shim saw at the path. */
  readonly netnsIdentity: NetnsIdentity | undefined;
  readonly args: CniArgs;
  readonly cniPath: string;
  readonly config: JsonText;
}

/** Several writes within this time are read together. */
const settleMs = 50;
/** The folder is read again this often, for a record that failed and for a lost file event. */
const rescanMs = 10_000;

/** The half-written file of a killed shim is removed after this. */
const tornMsMin = 60_000;

/** The folder where shims leave deletes and acknowledgements while the daemon is away. */
export class OfflineFolder {
  readonly #options: OfflineOptions;
  readonly #first = Promise.withResolvers<void>();
  #watcher: { close(): void } | undefined;
  /** Deletes that recovery has already. Each removal is a file event, and these are not read again then. */
  readonly #handed = new Set<string>();
  /** Deletes that are done, but whose files could not be removed: the disk may be read-only. */
  readonly #done = new Set<string>();
  #isReading = false;
  #cancelRead: Cancel | undefined;
  #stopRescan: Cancel = () => undefined;
  #onDelete: (request: OfflineDelete) => void = () => undefined;

  constructor(options: OfflineOptions) {
    this.#options = options;
  }

  /** Resolves after the first reading. Before that it is unknown which deletes must go before a call. */
  get ready(): Promise<void> {
    return this.#first.promise;
  }

  /** How many deletes are read and not done yet. */
  get waiting(): number {
    return this.#handed.size;
  }

  /** Reads the folder now and whenever it changes. Called when the socket listens, so that no record is missed. */
  async start(onDelete: (request: OfflineDelete) => void): Promise<void> {
    const { stateDir, clock, logger } = this.#options;
    this.#onDelete = onDelete;
    const onError = (error: Error): void =>
      logger.error("The folder of offline records can no longer be watched", { reason: error.message });
    this.#watcher = disk.watch(offlineFolderOf(stateDir), () => this.#readSoon(), onError);
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
    return !this.#done.has(name) && hasOffline(this.#options.stateDir, name);
  }

  /** Whether the runtime asked to delete this attachment while the daemon was away. */
  hasDelete(containerId: ContainerId, ifname: IfName): boolean {
    return this.has(deleteName(containerId, ifname));
  }

  /** The record is dealt with, so its file goes, now or when the disk allows it. A next daemon would do it again. */
  async drop(name: string): Promise<void> {
    try {
      await removeOffline(this.#options.stateDir, name);
      this.#done.delete(name);
      this.#handed.delete(name);
    } catch (thrown) {
      if (!this.#done.has(name)) this.#logFailure(name, thrown);
      this.#done.add(name);
    }
  }

  /** Keeps a DEL whose caller does not ask again, as a shim would. Resolves when it is durable. */
  async keepDelete(containerId: ContainerId, ifname: IfName, frames: readonly Uint8Array[]): Promise<void> {
    await writeOfflineDelete(this.#options.stateDir, deleteName(containerId, ifname), frames);
  }

  /** The attachment is gone, so its recorded delete is done. */
  dropDelete(containerId: ContainerId, ifname: IfName): Promise<void> {
    return this.drop(deleteName(containerId, ifname));
  }

  /** The time counts from the first event, so that a steady stream of records does not put the reading off. */
  #readSoon(): void {
    this.#cancelRead ??= this.#options.clock.after(settleMs, () => {
      this.#cancelRead = undefined;
      void this.#read();
    });
  }

  /** One reading at a time, because two would use the same records. A change meanwhile causes another reading. */
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
    for (const name of this.#done) await this.drop(name);
    await sweepOffline(stateDir, clock.wallMs(), tornMsMin).catch((thrown: unknown) => this.#logFailure("", thrown));
    await this.#each(["ack", "del"], (record) =>
      record.kind === "ack" ? this.#acknowledge(record) : this.#hand(record),
    );
  }

  /** A record that fails, for example because the disk is full, stops neither the other records nor the daemon. */
  async #each(kinds: readonly OfflineRecord["kind"][], use: (record: OfflineRecord) => Promise<void>): Promise<void> {
    const logFailure = (file: string, thrown: unknown): void => this.#logFailure(file, thrown);
    try {
      const there = new Set<string>();
      const isKnown = (name: string): boolean => this.#handed.has(name) && there.add(name).has(name);
      const records = await readOfflineFolder(this.#options.stateDir, kinds, logFailure, isKnown);
      if (kinds.includes("del")) this.#keepOnly(there);
      for (const record of records) {
        await use(record).catch((thrown: unknown) => logFailure(record.name, thrown));
      }
    } catch (thrown) {
      logFailure("", thrown);
    }
  }

  /** Forgets deletes whose files are gone. A later file with the same name is a new delete. */
  #keepOnly(there: ReadonlySet<string>): void {
    for (const name of this.#handed) if (!there.has(name)) this.#handed.delete(name);
  }

  #logFailure(file: string, thrown: unknown): void {
    const reason = toLeveeError(thrown, "Reading").message;
    const what = file === "" ? "The folder of offline records" : "An offline record";
    this.#options.logger.error(`${what} could not be processed and will be tried again`, { file, reason });
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
      this.#options.logger.error("An offline record cannot be parsed and is put aside", {
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
    netnsIdentity: call.netnsIdentity,
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
