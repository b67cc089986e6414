import { watch, type FSWatcher } from "node:fs";
import type { ContainerId, IfName, JsonText } from "../base/brand.ts";
import type { Clock } from "../base/clock.ts";
import { toLeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { CniArgs } from "../cni/cni-args.ts";
import { asJsonText } from "../cni/json-text.ts";
import { parseRequest } from "../cni/verb.ts";
import type { Journal } from "../state/journal.ts";
import {
  hasOffline,
  offlineFolderOf,
  readOfflineFolder,
  rejectOffline,
  removeOffline,
  type OfflineRecord,
} from "../state/offline-records.ts";
import { bytesField, decodeFrame, required } from "../wire/frame.ts";
import { readCall } from "../wire/messages.ts";

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

/** The folder in which shims leave deletes and acknowledgements while the daemon is away. */
export class OfflineFolder {
  readonly #options: OfflineOptions;
  #watcher: FSWatcher | undefined;
  #cancel: () => void = () => undefined;
  #onDelete: (request: OfflineDelete) => void = () => undefined;

  constructor(options: OfflineOptions) {
    this.#options = options;
  }

  /** Reads the folder now and whenever it changes. Called once the socket listens, so that no shim falls in between. */
  async start(onDelete: (request: OfflineDelete) => void): Promise<void> {
    this.#onDelete = onDelete;
    this.#watcher = watch(offlineFolderOf(this.#options.stateDir), () => {
      this.#cancel();
      this.#cancel = this.#options.clock.after(settleMs, () => this.#readSoon());
    });
    this.#watcher.on("error", (error) =>
      this.#options.logger.error("The folder of offline records can no longer be watched", { reason: error.message }),
    );
    await this.#read();
  }

  stop(): void {
    this.#cancel();
    this.#watcher?.close();
  }

  async readAcknowledgements(): Promise<void> {
    for (const record of await readOfflineFolder(this.#options.stateDir, ["ack"])) await this.#acknowledge(record);
  }

  has(name: string): Promise<boolean> {
    return hasOffline(this.#options.stateDir, name);
  }

  /** What was asked for in this record is done, whatever its name says. */
  drop(name: string): Promise<void> {
    return removeOffline(this.#options.stateDir, name);
  }

  /** The attachment is gone, so a delete of it that somebody wrote down is done. */
  dropDelete(containerId: ContainerId, ifname: IfName): Promise<void> {
    return removeOffline(this.#options.stateDir, `${containerId}-${ifname}.del`);
  }

  #readSoon(): void {
    this.#read().catch((thrown: unknown) => {
      this.#options.logger.error("The folder of offline records cannot be read", {
        reason: toLeveeError(thrown, "Reading").message,
      });
    });
  }

  async #read(): Promise<void> {
    for (const record of await readOfflineFolder(this.#options.stateDir)) {
      if (record.kind === "ack") await this.#acknowledge(record);
      else await this.#hand(record);
    }
  }

  async #acknowledge(record: OfflineRecord): Promise<void> {
    const token = record.name.slice(0, -".ack".length);
    if (this.#options.journal.findByToken(token) !== undefined) await this.#options.journal.acknowledge(token);
    await removeOffline(this.#options.stateDir, record.name);
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
