import type { Clock } from "../../../base/clock.ts";
import { toLeveeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import type { Hand } from "../../../hands/hand.ts";
import type { GcFinding } from "../../../wire/node-view.ts";
import type { LeaseCountView } from "../../../wire/node-holds.ts";
import type { Journal } from "../../../state/journal/journal.ts";
import type { View } from "../../../view/view.ts";
import type { ConfCache } from "../../look-up/conf-cache.ts";
import type { Turns } from "../../serve/turns.ts";
import { Looks } from "../looks.ts";
import type { Sight } from "../sight.ts";
import { lookForOrphans } from "./look-for-orphans.ts";
import { releaseLease } from "./release-lease.ts";
import type { Lease } from "../../../hands/lease.ts";
import { leaseFinding, leaseKey } from "./leases.ts";
import { usualDataDir } from "./lease-conf.ts";
import type { NetworkRoom } from "../../../lint/addresses/pool-room.ts";
import { definitionsOf } from "./definitions-of.ts";
import { freeBlank, freeSpent } from "./spent-leases.ts";

/** Longer than any ADD: a runtime writes its result only after the last plugin has ended. */
const orphanMsMin = 600_000;
/** To release more than this, a person must read the list again. */
const releasesMax = 64;

interface LeaseNeeds {
  readonly bootWallMs: () => Promise<number>;
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "binDir" | "cniDir" | "delegates" | "runtimeCniDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "all" | "leaks" | "losses">;
  readonly turns: Turns;
  readonly view: Pick<View, "networks">;
  readonly confs: ConfCache;
}

interface LeaseRound {
  readonly findings: readonly GcFinding[];
  readonly notes: readonly string[];
}

type Judged = readonly [Lease, GcFinding];

/** What a round may do. */
interface Leave {
  /** Free addresses of an earlier boot whose file is empty. */
  readonly toFree: boolean;
  /** Release addresses of containers that are not known. */
  readonly toRelease: boolean;
}

/**
 * Finds addresses of host-local without a sandbox. Those of an earlier boot whose file is empty are freed; all others are
 * released only when a person asks.
 */
export class OrphanLeases {
  readonly #needs: LeaseNeeds;
  readonly #looks = new Looks();
  #orphans: readonly Lease[] = [];
  #counts: readonly LeaseCountView[] | undefined;
  #rooms: readonly NetworkRoom[] = [];

  constructor(needs: LeaseNeeds) {
    this.#needs = needs;
  }

  /** The certain ones of the last look. */
  get orphans(): readonly Lease[] {
    return this.#orphans;
  }

  /** All addresses of the last look, by network; undefined before it. */
  get counts(): readonly LeaseCountView[] | undefined {
    return this.#counts;
  }

  /** How many addresses the networks with leases had left at the last look. */
  get rooms(): readonly NetworkRoom[] {
    return this.#rooms;
  }

  async round(hand: Hand, sight: Sight, leave: Leave): Promise<LeaseRound> {
    if (!hand.supports("list"))
      return {
        findings: [],
        notes: [`Addresses of host-local cannot be looked at: ${hand.identity.software} is too old`],
      };
    const { leases, counts, orphans, doubt, notes } = await lookForOrphans(hand, sight, this.#needs);
    this.#counts = counts;
    this.#rooms = await roomsOf(leases, this.#needs);
    this.#looks.note(orphans.map(leaseKey), this.#needs.clock.monotonicMs());
    const spent = await freeSpent(hand, orphans, { ...this.#needs, isActing: leave.toFree });
    const others = orphans
      .filter((lease) => !spent.has(lease))
      .map((lease) => [lease, this.#findingOf(lease, hand, doubt)] as const);
    const judged = [...spent, ...(leave.toRelease ? await this.#releaseDue(hand, others) : others)];
    this.#orphans = judged
      .filter(([, { action }]) => action !== "wait" && action !== "released")
      .map(([lease]) => lease);
    const isHeld = doubt !== "" && orphans.some(({ containerId }) => containerId !== "");
    return {
      findings: judged.map(([, finding]) => finding),
      notes: isHeld ? [...notes, `No address is released: ${doubt}`] : notes,
    };
  }

  #findingOf(lease: Lease, hand: Hand, doubt: string): GcFinding {
    const { why, isDue } = judge(lease, hand, doubt);
    return leaseFinding(lease, why, !this.#isOld(lease) ? "wait" : isDue ? "release" : "report");
  }

  /** By the file's own time, which may be wrong, or by the time since the first look at it. */
  #isOld(lease: Lease): boolean {
    const { clock } = this.#needs;
    const fileAgeMs = clock.wallMs() - lease.changedWallMs;
    return fileAgeMs >= orphanMsMin || (this.#looks.ageMs(leaseKey(lease), clock.monotonicMs()) ?? 0) >= orphanMsMin;
  }

  async #releaseDue(hand: Hand, judged: readonly Judged[]): Promise<readonly Judged[]> {
    const outcomes: Judged[] = [];
    let releases = 0;
    for (const [lease, finding] of judged) {
      const isDue = finding.action === "release" && releases < releasesMax;
      if (isDue) releases += 1;
      outcomes.push([lease, isDue ? await this.#release(hand, lease, finding) : finding]);
    }
    return outcomes;
  }

  async #release(hand: Hand, lease: Lease, finding: GcFinding): Promise<GcFinding> {
    try {
      await (lease.isBlank ? freeBlank(hand, lease) : releaseLease(hand, lease, this.#needs));
      const { network, address, containerId } = lease;
      this.#needs.logger.info("An address without a sandbox was released", {
        network,
        address,
        container: containerId,
      });
      return { ...finding, action: "released" };
    } catch (thrown) {
      if (hand.isLost) throw thrown;
      return { ...finding, action: "failed", detail: toLeveeError(thrown, "Cannot release").message };
    }
  }
}

/** The rules for ranges are loaded on nodes that have such networks. */
async function roomsOf(leases: readonly Lease[], { view, config }: LeaseNeeds): Promise<readonly NetworkRoom[]> {
  const definitions = definitionsOf(view.networks(), new Set(leases.map(({ network }) => network)));
  if (definitions.length === 0) return [];
  const { addressRooms } = await import("./address-rooms.ts");
  return addressRooms(definitions, leases, usualDataDir({ config }));
}

/** Why a lease is a finding, and whether a person may have it released. */
function judge(lease: Lease, hand: Hand, doubt: string): { readonly why: string; readonly isDue: boolean } {
  if (lease.containerId !== "")
    return { why: `this node does not know the container ${lease.containerId}`, isDue: doubt === "" };
  if (lease.isBlank && hand.supports("remove"))
    return { why: "the file is empty, as if host-local was killed while it wrote", isDue: true };
  const file = `${lease.dataDir}/${lease.network}/${lease.address}`;
  return { why: `the file names no container; remove ${file} by hand`, isDue: false };
}
