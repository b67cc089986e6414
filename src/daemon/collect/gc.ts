import type { JsonText } from "../../base/brand.ts";
import { deadline, type Cancel, type Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import { jsonValue } from "../../cni/json-text.ts";
import { withMember } from "../../cni/plugin-stdin.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf, type NetConf, type ValidAttachment } from "../../config/net-conf.ts";
import { runForNetwork } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { View } from "../../view/view.ts";
import { networkPlace } from "../health/ask-network.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import type { Call } from "../serve/call.ts";
import { silence, type Reply } from "../serve/reply.ts";
import type { Turns } from "../serve/turns.ts";
import { GcRota, networksForGc } from "./networks-for-gc.ts";
import { endedBoots, isSettled, judge, undoLimit } from "./rules.ts";
import { lookAtNamespaces } from "./sight.ts";
import { witnessesOf, type DeadRecord, type UndoDead } from "./undo-dead.ts";

/** How long GC waits for a moment in which no call runs. A busy node collects garbage another time. */
const aloneWaitMsMax = 3_000;
/** The networks' own GC runs alone, as the specification demands, and gives way when a pod comes. */
const aloneMsMax = 10_000;
/** A pod that comes waits so long for the running plugin to end; then the plugin is killed. Most need a few milliseconds. */
const giveWayMs = 200;
/** With less time than this no further network is asked. */
const networkMsMin = 1_000;

interface GcNeeds {
  readonly clock: Clock;
  readonly config: DaemonConfig;
  readonly bootId: string;
  readonly logger: Logger;
  readonly journal: Journal;
  readonly turns: Turns;
  readonly view: View;
  readonly confs: ConfCache;
  readonly dead: UndoDead;
}

/**
 * The verb GC: undoes attachments that the runtime no longer knows and whose network namespace is gone, then runs every
 * network's own GC with the attachments that remain. An unknown attachment that still lives is reported, not touched.
 */
export class Gc {
  readonly #needs: GcNeeds;
  readonly #rota = new GcRota();

  constructor(needs: GcNeeds) {
    this.#needs = needs;
  }

  async serve(call: Call): Promise<Reply> {
    const { clock, config, turns } = this.#needs;
    const conf = effectiveNetConf(await call.config(), config);
    const valid = conf.validAttachments;
    // An absent list is not an empty one: an empty list would remove every attachment of the node.
    if (valid === undefined)
      throw new LeveeError(
        "config-invalid",
        "Cannot collect garbage as the configuration has no cni.dev/valid-attachments",
      );
    await this.#undoUnknown(call, valid);
    const late = (): LeveeError =>
      new LeveeError("try-later", `Cannot collect garbage now as the node was busy for ${aloneWaitMsMax} ms`);
    using limit = deadline(clock, aloneWaitMsMax, late, call.signal);
    const pods = new AbortController();
    using _alone = await turns.takeAlone({ verb: "GC", cancel: () => pods.abort() }, limit.signal);
    const errors = await this.#runNetworkGcs(call, conf, { valid, pods: pods.signal });
    if (errors.length === 1 && errors[0] !== undefined) throw errors[0];
    if (errors.length > 1)
      throw new LeveeError(
        "delegate-failed",
        `Garbage collection failed for ${errors.length} networks: ${errors.map((error) => error.message).join("; ")}`,
      );
    return silence;
  }

  async #undoUnknown(call: Call, attachments: readonly ValidAttachment[]): Promise<void> {
    const { bootId, logger, journal, dead } = this.#needs;
    const valid = new Set(attachments.map(({ containerID, ifname }) => `${containerID}/${ifname}`));
    const settled = journal.all().filter(isSettled);
    const isKnown = (record: AttachmentRecord): boolean => valid.has(`${record.containerId}/${record.ifname}`);
    const unknown = settled.filter((record) => !isKnown(record));
    if (unknown.length === 0) return;
    const sight = await lookAtNamespaces(call.hand, settled, journal);
    refuseBlindness(settled.filter(isKnown), sight.alive);
    const gone = unknown.filter((record) => judge(record, sight, bootId).fate === "dead");
    const witnesses = witnessesOf(sight.alive);
    const due = dead.admit(
      gone.map((record) => ({ record, witnesses })),
      undoLimit(settled.length),
      endedBoots(settled, sight, bootId),
    );
    if (unknown.length > due.length) {
      logger.warn("The runtime does not know some attachments, and not all of them can be undone now", {
        unknown: unknown.length,
        dead: gone.length,
        undone: due.length,
      });
    }
    for (const one of due) await this.#undo(call, one);
  }

  /** Leaves a busy container to its running call and to the next GC. */
  async #undo(call: Call, dead: DeadRecord): Promise<void> {
    try {
      await this.#needs.dead.undo(call.hand, dead, call.signal);
    } catch (thrown) {
      const error = toLeveeError(thrown, "Cannot undo");
      if (call.hand.isLost || error.code !== "try-later") throw thrown;
      this.#needs.logger.info("Cannot undo a dead attachment now", {
        container: dead.record.containerId,
        reason: error.message,
      });
    }
  }

  /** Runs the GC of one network after the other until the time is up, each with its valid attachments. */
  async #runNetworkGcs(call: Call, conf: NetConf, { valid, pods }: Alone): Promise<readonly LeveeError[]> {
    const { clock, config, journal } = this.#needs;
    const place = networkPlace(call, clock, { binDir: config.binDir, limitMs: aloneMsMax });
    const errors: LeveeError[] = [];
    const endsMs = clock.monotonicMs() + aloneMsMax - networkMsMin;
    const known = knownAttachments(journal);
    for await (const { chain, key } of networksForGc(conf, valid, { ...this.#needs, rota: this.#rota })) {
      if (clock.monotonicMs() > endsMs) {
        this.#rota.stopBefore(key);
        break;
      }
      const attachments = attachmentsOn(chain, valid, known);
      const links = chain.links.map((link) => ({
        ...link,
        stdin: withMember(
          withMember(link.stdin, "cni.dev/valid-attachments", attachments),
          "cni.dev/attachments",
          attachments,
        ),
      }));
      try {
        await this.#untilPodsCome(call, pods, () => runForNetwork(call.hand, "GC", { ...chain, links }, place));
      } catch (thrown) {
        if (call.hand.isLost) throw thrown;
        if (pods.aborted) {
          this.#rota.stopBefore(key);
          throw gaveWay(chain);
        }
        errors.push(toLeveeError(thrown, `Cannot collect garbage of ${chain.network}`));
      }
    }
    return errors;
  }

  async #untilPodsCome(call: Call, pods: AbortSignal, run: () => Promise<void>): Promise<void> {
    pods.throwIfAborted();
    let stopTimer: Cancel = () => undefined;
    const onPods = (): void => {
      stopTimer = this.#needs.clock.after(giveWayMs, () => call.hand.killAll());
    };
    pods.addEventListener("abort", onPods, { once: true });
    try {
      await run();
    } finally {
      pods.removeEventListener("abort", onPods);
      stopTimer();
    }
  }
}

interface Alone {
  readonly valid: readonly ValidAttachment[];
  /** Aborted when another call comes. */
  readonly pods: AbortSignal;
}

function gaveWay({ network }: Chain): LeveeError {
  return new LeveeError("try-later", `Cannot finish the garbage collection of ${network} now as it gives way to pods`);
}

/** A hand that sees none of the namespaces that the runtime calls valid is in the wrong mount namespace. */
function refuseBlindness(known: readonly AttachmentRecord[], alive: ReadonlySet<AttachmentRecord>): void {
  if (known.length === 0 || known.some((record) => alive.has(record))) return;
  throw new LeveeError(
    "try-later",
    `Cannot tell living network namespaces from dead ones: of ${known.length} that the runtime calls valid, none can be seen`,
  );
}

type Attachment = Readonly<Record<"containerID" | "ifname", string>>;

/** The journal's attachments by the network name under which plugins keep their state. */
function knownAttachments(journal: Pick<Journal, "all">): ReadonlyMap<string, readonly Attachment[]> {
  const known = new Map<string, Attachment[]>();
  for (const { containerId, chains } of journal.all())
    for (const { confName, ifname } of chains) {
      const list = known.get(confName) ?? [];
      known.set(confName, list);
      list.push({ containerID: containerId, ifname });
    }
  return known;
}

/** The runtime lists only the primary network's interfaces; the journal knows all others. */
function attachmentsOn(
  chain: Chain,
  valid: readonly ValidAttachment[],
  known: ReadonlyMap<string, readonly Attachment[]>,
): JsonText {
  const all: readonly Attachment[] = [...(known.get(chain.confName) ?? []), ...(chain.isDefault ? valid : [])];
  const unique = new Map(all.map(({ containerID, ifname }) => [`${containerID}/${ifname}`, { containerID, ifname }]));
  return jsonValue([...unique.values()]);
}
