import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetworkReadiness } from "../../readiness/network-rules.ts";
import { judgeUplink } from "../../readiness/uplink-rules.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { View } from "../../view/view.ts";
import type { NetworkWord } from "../../wire/network-question.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import { findConfByName } from "../look-up/conf-files.ts";
import { couldGive, type interfaceAddresses } from "./host-addresses.ts";
import { NetworkBook, unseenHost } from "./network-book.ts";
import { lookAtHost } from "./look-at-host.ts";
import { deviceOf } from "./network-needs.ts";
import { NetworkTeller } from "./network-teller.ts";
import { PluginVersions } from "./plugin-versions.ts";
import type { Service } from "../service.ts";
import type { TakenAddresses } from "./taken-addresses.ts";

interface NetworkWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Pick<DaemonConfig, "confDir" | "uplinkGate">;
  readonly view: Pick<View, "networks">;
  readonly eventTeller: EventTeller;
  readonly journal: Pick<Journal, "all">;
  readonly nodeName: string;
  readonly resident: () => Hand | undefined;
  readonly pluginFolders: (hand: Hand) => readonly string[];
  /** Resolves to undefined while no primary network exists, or when only a call could name it. */
  readonly primary: () => Promise<NetworkConf | undefined>;
  readonly hostAddresses: typeof interfaceAddresses;
}

/** Interfaces and programs of a host rarely change. */
const lookMs = 60_000;
const lookAgeMsMax = 300_000;
/** How old a look may be that keeps pods from a network. */
const youngMs = 1_000;
/** How soon a changed definition is judged, and a new hand is used. */
const tickMs = 10_000;
/** Definitions read in one go; an arriving call waits for no more than that. */
const batchSize = 20;
const breathMs = 5;
/** A definition without a configuration means a file, which is read at every look. */
const filesMax = 100;

/** Watches which networks can be attached on this node: whether their programs and host interfaces exist. */
export class NetworkWatch implements Service {
  readonly #options: NetworkWatchOptions;
  readonly #book: NetworkBook;
  readonly #teller: NetworkTeller;
  readonly #stopTicks: Cancel;
  #list: readonly NetworkReadiness[] | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #judgedMs: number | undefined;
  #lookedWith: Hand | undefined;
  #looking: Promise<void> | undefined;
  #isStopped = false;
  #isAwaited = false;
  readonly #versions = new PluginVersions();
  #host = unseenHost;
  #taken: TakenAddresses | undefined;

  constructor(options: NetworkWatchOptions) {
    this.#options = options;
    this.#book = new NetworkBook(options.config.uplinkGate !== 0);
    this.#teller = new NetworkTeller(options.eventTeller, options.nodeName);
    this.#stopTicks = options.clock.every(tickMs, () => this.#tick());
    this.#tick();
  }

  /** Every probe and scrape calls this, so the list is made once per look. */
  networks(): readonly NetworkReadiness[] {
    return (this.#list ??= [...this.#book.all()].map(({ network, state, reasons }) => ({ network, state, reasons })));
  }

  /** For the guard. A network that is not ready and asked for is looked at more often. */
  wordOn(network: string): NetworkWord {
    const known = this.#book.of(network);
    if (known === undefined) return { network, state: "absent", reasons: [], mark: "" };
    const { state, reasons } = known.verdict;
    if (state !== "ready") this.#isAwaited = true;
    return { network, state, reasons, mark: this.#book.markOf(network) ?? "" };
  }

  /** Age of the last look at the host; undefined before the first one, and after it has expired. */
  ageMs(): number | undefined {
    return this.#judgedMs === undefined ? undefined : this.#options.clock.monotonicMs() - this.#judgedMs;
  }

  /** Why pods are kept from a network, by the last look; undefined when there was none at this definition. */
  keptFrom(network: string, definition?: NetworkDefinition): readonly string[] | undefined {
    const known = this.#book.of(network);
    if (known === undefined || this.#judgedMs === undefined) return undefined;
    // A definition without a configuration means a file, which is read with every look.
    if (definition?.config !== undefined && !this.#book.knows(network, definition)) return undefined;
    return known.verdict.gates ?? [];
  }

  /** Folders of the host that are there as long as a network is as the last look saw it. */
  signsOf(network: string): readonly string[] {
    const needs = (this.#book.of(network)?.needs ?? []).flatMap(({ bridge }) => bridge ?? []);
    return needs.flatMap((need) => {
      const { port } = judgeUplink(need, this.#host.uplinks(need.bridge));
      const folder = `/sys/class/net/${need.bridge}`;
      return [`${folder}/bridge`, ...(port === undefined ? [] : [`${folder}/brif/${port}`])];
    });
  }

  /**
   * Looks again, unless the last look is young: a pod that is kept back asks every few seconds, and so may hundreds. A
   * definition that no look has seen does not wait for that.
   */
  async lookAgain(network: string, definition?: NetworkDefinition): Promise<void> {
    await this.settled();
    const isNew = definition !== undefined && this.keptFrom(network, definition) === undefined;
    const isYoung = this.#options.clock.monotonicMs() - this.#lookedMs < youngMs;
    if ((isYoung && !isNew) || this.#options.resident() === undefined) return;
    this.#lookedMs = Number.NEGATIVE_INFINITY;
    this.#tick();
    await this.settled();
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
        logger.warn("Cannot look at the networks of this node", {
          reason: toLeveeError(thrown, "Looking").message,
        }),
      )
      .finally(() => (this.#looking = undefined));
  }

  async #look(): Promise<void> {
    const { clock } = this.#options;
    // Awaited networks are looked at with every tick.
    const isDue = this.#isAwaited || clock.monotonicMs() - this.#lookedMs >= lookMs;
    const isChanged = await this.#read(isDue);
    this.#list = undefined;
    const hand = this.#options.resident();
    if (hand === undefined) this.#forgetLook();
    if (hand === undefined || this.#isStopped) return;
    if (!isDue && !isChanged && hand === this.#lookedWith) return;
    this.#lookedMs = clock.monotonicMs();
    this.#lookedWith = hand;
    this.#isAwaited = false;
    const folders = this.#options.pluginFolders(hand);
    const [programs, bridges, vlanBridges] = [this.#book.programs(), this.#book.bridges(), this.#book.vlanBridges()];
    const [sockets, held] = [this.#book.sockets(), this.#heldDevices()];
    const [wantsVlans, masters, versions] = [this.#book.wantsVlans(), this.#book.masters(), this.#versions];
    const links = { masters, bridges, named: this.#book.namedUplinks(), wantsVlans, vlanBridges, held };
    this.#host = await lookAtHost(hand, { programs, folders, versions, sockets, ...links });
    this.#book.judge(this.#host, await this.#takenAddresses(hand));
    this.#judgedMs = clock.monotonicMs();
    this.#list = undefined;
    this.#teller.tell(this.#book.all());
  }

  async #takenAddresses(hand: Hand): Promise<ReadonlyMap<string, readonly string[]>> {
    const addresses = await this.#options.hostAddresses();
    const networks = this.#book.withText(couldGive(addresses));
    if (networks.length === 0) return new Map();
    const { TakenAddresses: Taken } = await import("./taken-addresses.ts");
    this.#taken ??= new Taken(this.#options.clock, () => this.#isStopped);
    return this.#taken.find(hand, addresses, networks);
  }

  /** Without a hand the last look expires, so that a network does not stay ready because it once was. */
  #forgetLook(): void {
    if (this.#options.clock.monotonicMs() - this.#lookedMs <= lookAgeMsMax) return;
    this.#host = unseenHost;
    this.#book.judge(this.#host, new Map());
    this.#judgedMs = undefined;
  }

  /** Reads new definitions, a few at a time. Resolves to whether there were any. */
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

  /** Interfaces that plugins moved into pods are rightly missing on the host. */
  #heldDevices(): ReadonlySet<string> {
    const links = this.#options.journal.all().flatMap(({ chains }) => chains.flatMap((chain) => chain.links));
    return new Set(links.filter(({ type }) => type === "host-device").map(({ stdin }) => deviceOf(stdin)));
  }
}
