import { doublingSteps } from "../../base/exact/decay.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { GuardConfigMap } from "../act/guard-config-map.ts";
import { calmKey, nextCalm, watchedNow, type HeardAt, type Watched } from "../decide/lower/memory-calm.ts";
import { parseCalms, printCalms } from "../decide/lower/calm-text.ts";
import { pastCalm, pastOf } from "../decide/lower/past-calm.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { MemoryCalm } from "../facts/memory-calm.ts";
import type { World } from "../facts/world.ts";

/** A guard that dies loses at most this much of what it saw; well below the gap that begins the time anew. */
const writeEveryMs = 600_000;

interface CalmKeeperOptions {
  readonly api: KubeApi;
  readonly logger: Logger;
  readonly settings: GuardSettings;
}

/** `ClusterFacts` has them. */
interface CalmSource {
  isCurrent(): boolean;
  world(): World;
}

/**
 * Watches the containers whose memory the guard has raised. The record is in the ConfigMap `levee-guard`, so neither a
 * restart nor a new leader begins the week anew or invents one. Only the leader calls it.
 */
export class CalmKeeper {
  readonly #options: CalmKeeperOptions;
  readonly #map: GuardConfigMap;
  readonly #heard = new Map<string, HeardAt>();
  #calms: readonly MemoryCalm[] | undefined;
  #written: readonly MemoryCalm[] = [];
  #writtenMs = 0;

  constructor(options: CalmKeeperOptions) {
    this.#options = options;
    this.#map = new GuardConfigMap(options.api, options.settings.namespace, "memory-calm");
  }

  /** Undefined until the record was read. */
  get calms(): readonly MemoryCalm[] | undefined {
    return this.#calms;
  }

  async look(source: CalmSource, term: { isHeld(): boolean }): Promise<void> {
    // A guard that is blind learns nothing, and the gap grows.
    if (!source.isCurrent()) return;
    const { settings, logger } = this.#options;
    const world = source.world();
    const watched = watchedNow(world, settings);
    try {
      if (this.#calms === undefined) this.#calms = this.#written = parseCalms((await this.#map.read()).text);
      const before = new Map(this.#calms.map((calm) => [calm.key, calm]));
      this.#calms = watched.map((one) => this.#next(one, before.get(calmKey(one)), world));
      if (term.isHeld() && this.#isDue(this.#calms, world.nowMs)) await this.#write(this.#calms, world.nowMs);
    } catch (thrown) {
      logger.warn("Cannot keep what was seen of a raised memory limit; trying again", {
        error: toLeveeError(thrown, "Cannot keep it").message,
      });
    }
  }

  #next(watched: Watched, before: MemoryCalm | undefined, world: World): MemoryCalm {
    const past = pastOf(watched, world);
    const calm = past === undefined ? this.#heardNext(watched, before, world) : pastCalm(watched, before, past, world);
    if (calm.broken !== "" && calm.broken !== before?.broken)
      this.#options.logger.info("The time without pressure begins anew", { key: calm.key, why: calm.broken });
    return calm;
  }

  #heardNext(watched: Watched, before: MemoryCalm | undefined, world: World): MemoryCalm {
    const heard = this.#heard.get(calmKey(watched)) ?? new Map<string, number>();
    this.#heard.set(calmKey(watched), heard);
    return nextCalm(watched, before, world, heard);
  }

  /** At once where a lost record would hide something: a new beginning, a kill, a peak that asks for another size. */
  #isDue(calms: readonly MemoryCalm[], nowMs: number): boolean {
    if (calms.length === 0 && this.#written.length === 0) return false;
    if (calms.length !== this.#written.length || nowMs - this.#writtenMs >= writeEveryMs) return true;
    return calms.some((calm) => {
      const written = this.#written.find(({ key }) => key === calm.key);
      return written === undefined || isOther(calm, written);
    });
  }

  async #write(calms: readonly MemoryCalm[], nowMs: number): Promise<void> {
    await this.#map.write(await this.#map.read(), printCalms(calms));
    this.#written = calms;
    this.#writtenMs = nowMs;
  }
}

/** While it is not calm, every look begins anew: that alone is no reason to write. */
function isOther(calm: MemoryCalm, written: MemoryCalm): boolean {
  if (calm.sinceMs - written.sinceMs >= writeEveryMs) return true;
  const gist = ({ limit, peakBytes, kills, isOfPrometheus }: MemoryCalm): string =>
    JSON.stringify([limit, doublingSteps(peakBytes), kills, isOfPrometheus]);
  return gist(calm) !== gist(written);
}
