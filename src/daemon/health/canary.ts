import type { PluginType } from "../../base/brand.ts";
import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import { explainOutcome } from "../../hands/explain-outcome.ts";
import type { Hand } from "../../hands/hand.ts";
import type { ResidentHand } from "../undo/residents.ts";
import type { CanaryFacts, HandFacts } from "../../readiness/hand-rules.ts";
import type { PluginFolders } from "./plugin-folders.ts";
import type { Service } from "../service.ts";

interface CanaryOptions {
  readonly clock: Clock;
  /** The resident hand, and since when it is connected. */
  readonly resident: () => ResidentHand | undefined;
  readonly folders: (hand: Hand) => PluginFolders;
}

/** A trial makes two namespaces, and the kernel is slow to remove them. */
const trialMs = 60_000;
/** How soon a new hand is tried. */
const lookMs = 5_000;
/** loopback only switches an interface on; a longer run is stuck. */
const runMsMax = 10_000;
/** The most that a resident hand runs at once; a trial must not displace real work. */
const runsMax = 8;
const plugin = "loopback" as PluginType;
/** Every loopback in use speaks 0.4.0. */
const stdin = '{"cniVersion":"0.4.0","name":"levee-canary","type":"loopback"}';

/**
 * Tries the whole path once a minute: the resident hand makes a namespace, runs a plugin in it and returns the outcome.
 * A fault that breaks plugins on a node (no memory, a read-only disk, a moved folder) shows here before a pod needs one.
 */
export class Canary implements Service {
  readonly #options: CanaryOptions;
  readonly #startedMs: number;
  readonly #stop: Cancel;
  #beganMs: number | undefined;
  #isRunning = false;
  #last: (Omit<CanaryFacts, "ageMs"> & { readonly endedMs: number }) | undefined;

  constructor(options: CanaryOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    this.#stop = options.clock.every(lookMs, () => this.#tick());
  }

  stop(): void {
    this.#stop();
  }

  get last(): CanaryFacts | undefined {
    if (this.#last === undefined) return undefined;
    const { endedMs, ...facts } = this.#last;
    return { ...facts, ageMs: this.#options.clock.monotonicMs() - endedMs };
  }

  facts(): HandFacts {
    const { clock } = this.#options;
    const resident = this.#options.resident();
    if (resident === undefined)
      return {
        isPresent: false,
        sinceMs: clock.monotonicMs() - this.#startedMs,
        canaryLack: undefined,
        canary: this.last,
      };
    const { hand, sinceWallMs } = resident;
    return {
      isPresent: true,
      sinceMs: Math.max(0, clock.wallMs() - sinceWallMs),
      canaryLack: hand.supports("scratch-netns")
        ? undefined
        : `the resident hand is ${hand.identity.software}, which is too old to make a namespace for a trial`,
      canary: this.last,
    };
  }

  #tick(): void {
    const { clock, resident } = this.#options;
    const hand = resident()?.hand;
    const isDue = this.#beganMs === undefined || clock.monotonicMs() - this.#beganMs >= trialMs;
    if (hand === undefined || this.#isRunning || !isDue) return;
    if (!hand.supports("scratch-netns") || hand.busy >= runsMax) return;
    this.#beganMs = clock.monotonicMs();
    this.#isRunning = true;
    void this.#try(hand).finally(() => (this.#isRunning = false));
  }

  async #try(hand: Hand): Promise<void> {
    const { clock } = this.#options;
    const beganMs = clock.monotonicMs();
    const places = this.#options.folders(hand);
    let reason = "";
    let isInconclusive = false;
    try {
      const failure = (await this.#run(hand, "ADD", places)) ?? (await this.#run(hand, "DEL", places));
      reason = failure?.reason ?? "";
      isInconclusive = failure?.isMissing === true && places.source === "guess";
    } catch (thrown) {
      // A lost hand proves nothing about the node.
      if (hand.isLost) return;
      reason = toLeveeError(thrown, "The canary").message;
    }
    const endedMs = clock.monotonicMs();
    this.#last = { isSuccess: reason === "", isInconclusive, reason, endedMs, tookMs: endedMs - beganMs };
  }

  /** Resolves to undefined when the run succeeds. */
  async #run(hand: Hand, verb: "ADD" | "DEL", { folders }: PluginFolders): Promise<RunFailure | undefined> {
    const cniPath = folders.join(":");
    const outcome = await hand.run({
      plugin,
      env: {
        CNI_COMMAND: verb,
        CNI_CONTAINERID: "levee-canary",
        CNI_IFNAME: "lo",
        CNI_ARGS: "",
        CNI_PATH: cniPath,
      },
      stdin,
      timeoutMs: runMsMax,
      scratchNetns: true,
      // The folder and the start of a program are part of what is tried.
      asksProgram: true,
    });
    if (outcome.failure === "missing")
      return { isMissing: true, reason: `the plugin loopback is not in ${cniPath}, so nothing could be tried` };
    const error = explainOutcome(outcome, {
      verb,
      network: "canary",
      ifname: "lo",
      plugin: "loopback",
      timeoutMs: runMsMax,
    });
    if (error === undefined) return undefined;
    const details = error.details === "" ? "" : `: ${error.details}`;
    return { isMissing: false, reason: `${verb}: ${error.message}${details}` };
  }
}

interface RunFailure {
  readonly isMissing: boolean;
  readonly reason: string;
}
