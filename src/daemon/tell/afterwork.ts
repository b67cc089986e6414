import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { SpareTime } from "../../base/spare-time.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { MultusMirror } from "../../state/multus/multus-mirror.ts";
import { removeDeviceInfo } from "../chains/device-info.ts";
import type { Timeline } from "../record/timeline.ts";
import type { EventTeller } from "./event-teller.ts";
import type { StatusTeller } from "./status-teller.ts";
import type { Chain } from "../../cni/chain.ts";
import { AttachedTeller } from "./tell-attached.ts";

/** In a storm a pod takes longer than this to start. Each waiting status keeps a few KiB of results meanwhile. */
const statusPatience = { keptMsMax: 10_000, keptMax: 250 };

/** The shim prints the result, sends ACK and leaves within this time, and the runtime waits for that. */
const soonMs = 5;

const repairKey = Symbol("repair");
/** The next daemon does the rest, unless Multus comes next. */
const repairedAtEndMax = 1_000;

export interface AfterworkNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "deviceInfoDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all" | "findByToken">;
  readonly mirror: MultusMirror;
  readonly eventTeller: EventTeller;
  readonly statusTeller: StatusTeller;
  readonly timeline: Timeline;
  /** Whether recovery may still undo this record. */
  readonly isPending: (token: string) => boolean;
}

/**
 * The work after the reply of an ADD: Multus' files, the pod's network-status, its events. No call waits for it, so it
 * gives way to calls that do wait.
 */
export class Afterwork {
  readonly #needs: AfterworkNeeds;
  readonly #idle: SpareTime;
  readonly #statusTime: SpareTime;
  readonly #teller: AttachedTeller;
  /** Tokens of attachments whose files of Multus are missing. */
  readonly #unmirrored = new Set<string>();
  /** Tokens of attachments that were committed just now. */
  readonly #fresh = new Set<string>();

  constructor(needs: AfterworkNeeds) {
    this.#needs = needs;
    this.#idle = new SpareTime(needs.clock);
    this.#statusTime = new SpareTime(needs.clock, statusPatience);
    this.#teller = new AttachedTeller({ ...needs, idle: this.#idle, statusTime: this.#statusTime });
  }

  /** Puts the work off while `isBusy` is true. */
  giveWayWhile(isBusy: () => boolean): void {
    this.#idle.watch(isBusy);
    this.#statusTime.watch(isBusy);
  }

  /** An ADD is committed. Only the token waits, not the record: in a storm a thousand wait here. */
  committed(token: string): void {
    this.#fresh.add(token);
    this.#needs.clock.after(soonMs, () => {
      if (this.#fresh.delete(token)) this.#idle.do(() => this.#mirrorNow(token), token);
    });
    this.#teller.tellSoon(token);
  }

  /** The networks of a running pod have changed. Its status comes last. */
  async changed(before: AttachmentRecord, now: AttachmentRecord): Promise<void> {
    const { mirror, config, logger } = this.#needs;
    const gone = before.chains.filter((chain) => !now.chains.includes(chain));
    const came = now.chains.filter((chain) => !before.chains.includes(chain));
    await mirror.change(before, now);
    const hasFile = (chain: Chain): boolean => !came.some(({ network, ifname }) => isOf(chain, network, ifname));
    await removeDeviceInfo({ ...before, chains: gone.filter(hasFile) }, config.deviceInfoDir, logger);
    this.#teller.tellChange(now, { gone, came });
  }

  /** A call came back for an attachment that the last daemon committed, and perhaps did not mirror. */
  resumed(record: AttachmentRecord): void {
    void this.#needs.mirror.write(record);
  }

  /** The reply of a resumed call has gone out. */
  tell(token: string): void {
    this.#teller.tellSoon(token);
  }

  /** The attachment goes: it is no longer told, and its files are removed. */
  async drop(record: AttachmentRecord): Promise<void> {
    const { statusTeller, mirror, config, logger } = this.#needs;
    statusTeller.drop(record.containerId);
    this.#fresh.delete(record.token);
    this.#idle.drop(record.token);
    this.#unmirrored.delete(record.token);
    this.#statusTime.drop(record.token);
    await mirror.remove(record);
    await removeDeviceInfo(record, config.deviceInfoDir, logger);
  }

  /**
   * Missing mirror files are rewritten when the daemon is idle, one attachment at a time: there may be thousands, and
   * shims wait now.
   */
  async repairMirror(): Promise<void> {
    const { journal, mirror } = this.#needs;
    await mirror.repair(journal.all(), ({ token }) => this.#unmirrored.add(token));
    this.#repairLater();
  }

  #repairLater(): void {
    if (this.#unmirrored.size === 0) return;
    this.#idle.later(() => {
      this.#repairSome(1);
      this.#repairLater();
    }, repairKey);
  }

  #repairSome(count: number): void {
    for (const token of [...this.#unmirrored.values().take(count)]) {
      this.#unmirrored.delete(token);
      this.#mirrorNow(token);
    }
  }

  #mirrorNow(token: string): void {
    const { journal, mirror } = this.#needs;
    const record = journal.findByToken(token);
    if (record !== undefined) void mirror.write(record);
  }

  /** Does the work now that the next daemon would miss. */
  async finish(): Promise<void> {
    for (const token of this.#fresh) this.#mirrorNow(token);
    this.#fresh.clear();
    this.#idle.finish();
    this.#statusTime.finish();
    this.#repairSome(repairedAtEndMax);
    await this.#needs.mirror.settled();
  }
}

function isOf(chain: Chain, network: string, ifname: string): boolean {
  return chain.network === network && chain.ifname === ifname;
}
