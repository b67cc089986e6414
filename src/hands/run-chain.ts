import type { ContainerId, JsonText, NetnsPath } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { withoutIndents } from "../base/without-indents.ts";
import type { Chain, ChainLink } from "../cni/chain.ts";
import { finalResult } from "../cni/final-result.ts";
import { asJsonText } from "../cni/json-text.ts";
import { withPrevResult } from "../cni/plugin-stdin.ts";
import { parseResult, withCniVersion } from "../cni/result.ts";
import type { RunOrder } from "../wire/messages.ts";
import type { Outcome } from "../wire/outcome.ts";
import { explainOutcome, prefix } from "./explain-outcome.ts";
import type { Hand } from "./hand.ts";

/** The container, namespace and limits for the run of a chain. */
export interface ChainPlace {
  readonly containerId: ContainerId;
  /** Empty when the namespace is gone, or when another one has its path now. */
  readonly netns: NetnsPath | "";
  readonly cniPath: string;
  /** The time left for one more run, asked before each run. Throws when no time is left. */
  readonly remainingMs: () => number;
  /** Called after every run, for the timeline. */
  readonly onRan: (run: Ran) => void;
  /** Called about once a second while a plugin runs, with its time without CPU use. Shims before version 3 never do. */
  readonly onProgress?: (idleMs: number, plugin: string) => void;
}

export interface Ran {
  readonly verb: string;
  readonly chain: Chain;
  readonly link: ChainLink;
  readonly outcome: Outcome;
  /** Undefined when the plugin succeeded. */
  readonly error?: LeveeError | undefined;
}

type Runner = Pick<Hand, "run">;

/** One link of an ADD with its step number and the previous link's result. */
export interface AddLink {
  readonly chain: Chain;
  readonly link: ChainLink;
  readonly step: number;
  readonly previous: JsonText | undefined;
  readonly undoTimeoutMs: number;
}

/** Runs one plugin's ADD. `known` is the outcome that a resumed call brings along; then nothing runs. */
export async function runAdd(hand: Runner, add: AddLink, place: ChainPlace, known?: Outcome): Promise<JsonText> {
  const timeoutMs = place.remainingMs();
  const stdin = add.previous === undefined ? add.link.stdin : withPrevResult(add.link.stdin, add.previous);
  const order = {
    ...orderFor("ADD", { ...add, place, stdin }),
    timeoutMs,
    undo: { command: "DEL", timeoutMs: add.undoTimeoutMs },
  };
  const outcome = known ?? (await hand.run(order, add.step, progressOf(add.link, place)));
  throwUnlessDone("ADD", add.chain, add.link, { outcome, timeoutMs, place });
  return resultOf(add.chain, add.link, outcome);
}

/** Runs CHECK for every link in order with the final result, as the specification requires. */
export async function runCheck(hand: Hand, chain: Chain, place: ChainPlace, result: JsonText): Promise<void> {
  const final = finalResult(chain, result);
  for (const link of chain.links)
    await runPlain(hand, "CHECK", { chain, link, place, stdin: withPrevResult(link.stdin, final) });
}

/** Runs a verb that belongs to no attachment (STATUS, GC) for every link in order. */
export async function runForNetwork(hand: Hand, verb: "STATUS" | "GC", chain: Chain, place: ChainPlace): Promise<void> {
  for (const link of chain.links) await runPlain(hand, verb, { chain, link, place, stdin: link.stdin });
}

interface PlainRun {
  readonly chain: Chain;
  readonly link: ChainLink;
  readonly place: ChainPlace;
  readonly stdin: JsonText;
}

/** Runs one plugin of one chain without recording a step. */
export async function runPlain(hand: Hand, verb: string, run: PlainRun): Promise<void> {
  const timeoutMs = run.place.remainingMs();
  const outcome = await hand.run({ ...orderFor(verb, run), timeoutMs }, undefined, progressOf(run.link, run.place));
  throwUnlessDone(verb, run.chain, run.link, { outcome, timeoutMs, place: run.place });
}

function progressOf({ type }: ChainLink, { onProgress }: ChainPlace): ((idleMs: number) => void) | undefined {
  return onProgress === undefined ? undefined : (idleMs) => onProgress(idleMs, type);
}

function throwUnlessDone(
  verb: string,
  chain: Chain,
  link: ChainLink,
  run: { outcome: Outcome; timeoutMs: number; place: ChainPlace },
): void {
  const error = explainOutcome(run.outcome, {
    verb,
    network: chain.network,
    ifname: chain.ifname,
    plugin: link.type,
    timeoutMs: run.timeoutMs,
  });
  run.place.onRan({ verb, chain, link, outcome: run.outcome, error });
  if (error !== undefined) throw error;
}

function orderFor(verb: string, { chain, link, place, stdin }: PlainRun): Omit<RunOrder, "timeoutMs"> {
  const isForAttachment = verb !== "STATUS" && verb !== "GC";
  const attachment: Record<string, string> = isForAttachment
    ? { CNI_CONTAINERID: place.containerId, CNI_NETNS: place.netns, CNI_IFNAME: chain.ifname, CNI_ARGS: chain.cniArgs }
    : {};
  return { plugin: link.type, env: { CNI_COMMAND: verb, ...attachment, CNI_PATH: place.cniPath }, stdin };
}

/**
 * A plugin's result as text, with its version added if missing. The bytes stay its own except for the indents. These
 * are half of a usual result, and the journal keeps the result as long as the pod lives.
 */
function resultOf(chain: Chain, link: ChainLink, outcome: Outcome): JsonText {
  const what = `the result of ${link.type} for ${prefix(chain)}`;
  if (outcome.stdoutTruncated) {
    throw new LeveeError(
      "delegate-failed",
      `${prefix(chain)}: Cannot use ${what} as it is longer than ${outcome.stdout.length} bytes`,
    );
  }
  const text = withoutIndents(asJsonText(outcome.stdout, what));
  // As libcni does: an unreadable result fails the ADD while it can be undone.
  parseResult(text, chain.cniVersion, what);
  return withCniVersion(text, chain.cniVersion);
}
