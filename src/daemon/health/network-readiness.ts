import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetworkReadiness } from "../../readiness/network-rules.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { View } from "../../view/view.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import { findConfByName } from "../look-up/conf-files.ts";
import { NetworkBook, nobodyLooked } from "./network-book.ts";
import { lookAtHost } from "./look-at-host.ts";
import { deviceOf } from "./network-needs.ts";
import { NetworkVoice } from "./network-voice.ts";
import type { Service } from "../service.ts";

export interface NetworkReadinessOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Pick<DaemonConfig, "confDir">;
  readonly view: Pick<View, "networks">;
  readonly eventTeller: EventTeller;
  readonly journal: Pick<Journal, "all">;
  readonly nodeName: string;
  readonly resident: () => Hand | undefined;
  readonly pluginFolders: (hand: Hand) => readonly string[];
  /** The conf of the primary network; undefined while there is none, or none that could be told without a call. */
  readonly primary: () => Promise<NetworkConf | undefined>;
}

/** Interfaces and programs of a host change seldom. */
const lookMs = 60_000;
const lookAgeMsMax = 300_000;
/** How soon a new or changed definition is judged, and a hand that has come is asked. */
const tickMs = 10_000;
/** So many definitions are read in one go; a call that arrives waits for no more than that. */
const batchSize = 20;
const breathMs = 5;
/** Definitions without a configuration mean a file, which is looked for at every look. */
const filesMax = 100;

/** Knows which networks can be attached on this node: their programs are there, and the interfaces they stand on. */
export class NetworkWatch implements Service {
  readonly #options: NetworkReadinessOptions;
  readonly #book = new NetworkBook();
  readonly #voice: NetworkVoice;
  readonly #stopTicks: Cancel;
  #told: readonly NetworkReadiness[] | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #judgedMs: number | undefined;
  #lookedWith: Hand | undefined;
  #looking: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: NetworkReadinessOptions) {
    this.#options = options;
    this.#voice = new NetworkVoice(options.eventTeller, options.nodeName);
    this.#stopTicks = options.clock.every(tickMs, () => this.#tick());
    this.#tick();
  }

  /** Asked for by every probe and scrape, so the list is made once per look. */
  networks(): readonly NetworkReadiness[] {
    return (this.#told ??= [...this.#book.all()].map(({ network, state, reasons }) => ({ network, state, reasons })));
  }

  /** How long ago a hand looked at the host; undefined before the first look, and when the last one counts no more. */
  ageMs(): number | undefined {
    return this.#judgedMs === undefined ? undefined : this.#options.clock.monotonicMs() - this.#judgedMs;
  }

  /** Resolves when no look is under way. */
  settled(): Promise<void> {
    return this.#looking ?? Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTicks();
    await this.settled();
  }

  #tick(): void {
    if (this.#looking !== undefined || this.#isStopped) return;
    const { logger } = this.#options;
    this.#looking = this.#look()
      .catch((thrown: unknown) =>
        logger.warn("The networks of this node could not be looked at", {
          reason: toLeveeError(thrown, "Looking").message,
        }),
      )
      .finally(() => (this.#looking = undefined));
  }

  async #look(): Promise<void> {
    const { clock } = this.#options;
    const isDue = clock.monotonicMs() - this.#lookedMs >= lookMs;
    const isChanged = await this.#read(isDue);
    this.#told = undefined;
    const hand = this.#options.resident();
    if (hand === undefined) this.#forgetLook();
    if (hand === undefined || this.#isStopped) return;
    if (!isDue && !isChanged && hand === this.#lookedWith) return;
    this.#lookedMs = clock.monotonicMs();
    this.#lookedWith = hand;
    const folders = this.#options.pluginFolders(hand);
    const [programs, bridges] = [this.#book.programs(), this.#book.bridges()];
    this.#book.judge(await lookAtHost(hand, { programs, folders, bridges, held: this.#heldDevices() }));
    this.#judgedMs = clock.monotonicMs();
    this.#told = undefined;
    this.#voice.say(this.#book.all());
  }

  /** Without a hand the last look says ever less; nobody is to be told that a network is ready because it once was. */
  #forgetLook(): void {
    if (this.#options.clock.monotonicMs() - this.#lookedMs <= lookAgeMsMax) return;
    this.#book.judge(nobodyLooked);
    this.#judgedMs = undefined;
  }

  /** Reads what is new, a few at a time. Whether there was anything. */
  async #read(withFiles: boolean): Promise<boolean> {
    const { view, clock } = this.#options;
    const seen = new Set<string>();
    let isChanged = false;
    let read = 0;
    let files = 0;
    for (const definition of view.networks()) {
      const key = `${definition.namespace}/${definition.name}`;
      seen.add(key);
      if (this.#book.knows(key, definition)) continue;
      if (definition.config === undefined) {
        if (withFiles && files++ < filesMax) this.#book.enter(key, definition, await this.#confOfFile(definition.name));
        continue;
      }
      this.#book.enter(key, definition);
      isChanged = true;
      if (++read % batchSize === 0) await clock.sleep(breathMs);
      if (this.#isStopped) return false;
    }
    await this.#readPrimary(seen);
    this.#book.keepOnly(seen);
    return isChanged;
  }

  async #readPrimary(seen: Set<string>): Promise<void> {
    const conf = await this.#options.primary().catch(() => undefined);
    if (conf === undefined) return;
    seen.add(conf.name);
    this.#book.enterConf(conf.name, () => conf);
  }

  #confOfFile(name: string): Promise<NetworkConf | undefined> {
    return findConfByName(this.#options.config.confDir, name);
  }

  /** Interfaces that plugins have moved into pods: missing on the host, and as they should be. */
  #heldDevices(): ReadonlySet<string> {
    const links = this.#options.journal.all().flatMap(({ chains }) => chains.flatMap((chain) => chain.links));
    return new Set(links.filter(({ type }) => type === "host-device").map(({ stdin }) => deviceOf(stdin)));
  }
}
