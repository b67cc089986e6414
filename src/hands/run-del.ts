import { LeveeError, toLeveeError } from "../base/errors.ts";
import type { JsonText } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { prevResultAtDel } from "../cni/cni-version.ts";
import { finalResult } from "../cni/final-result.ts";
import { withPrevResult } from "../cni/plugin-stdin.ts";
import { withoutRequest } from "../cni/without-request.ts";
import type { Hand } from "./hand.ts";
import { runPlain, type ChainPlace } from "./run-chain.ts";
import { shareMs } from "./share-of-time.ts";

interface DelOptions {
  /** The chain's result, which becomes prevResult. */
  readonly result: JsonText | undefined;
  /** How many links of the chain may have run. */
  readonly linksDone: number;
  /** How many of them are known to have succeeded at ADD. */
  readonly linksAdded: number;
  /** What the plugins said last time: at the failed ADD, or at earlier tries of this DEL. */
  readonly refusal: string | undefined;
}

/** A link whose DEL failed, and why. */
export interface LinkFailure {
  /** Its index in the chain. */
  readonly at: number;
  readonly error: LeveeError;
}

/**
 * Runs DEL for the links of one chain, last first. A link that fails does not stop the others, although libcni stops
 * there: a pod's request that the last plugin refuses would otherwise keep the address that the first one gave it.
 */
export async function runDel(
  hand: Hand,
  chain: Chain,
  place: ChainPlace,
  options: DelOptions,
): Promise<readonly LinkFailure[]> {
  const failures: LinkFailure[] = [];
  for (let at = options.linksDone - 1; at >= 0; at -= 1) {
    try {
      await delLink(hand, chain, { ...place, remainingMs: () => shareMs(place.remainingMs(), at) }, { ...options, at });
    } catch (thrown) {
      const error = toLeveeError(thrown, `Cannot undo ${chain.network}`);
      // A hand that has too much to do has tried nothing, so the plugin did not fail.
      if (hand.isLost || error.code === "try-later") throw error;
      failures.push({ at, error });
    }
  }
  return failures;
}

/**
 * A plugin that refuses DEL as it refused ADD has attached nothing: it does not accept what the pod asks for. The network's
 * own configuration frees whatever is filed under the container, and such a DEL can succeed.
 */
async function delLink(
  hand: Hand,
  chain: Chain,
  place: ChainPlace,
  options: DelOptions & { readonly at: number },
): Promise<void> {
  try {
    await delWith(hand, chain, place, options);
  } catch (thrown) {
    const plain = isRefusedAgain(thrown, options) && !hand.isLost ? withoutRequest(chain) : undefined;
    if (plain === undefined) throw thrown;
    await delWith(hand, plain, place, options);
  }
}

async function delWith(
  hand: Hand,
  chain: Chain,
  place: ChainPlace,
  { result, at }: Pick<DelOptions, "result"> & { readonly at: number },
): Promise<void> {
  const link = chain.links[at];
  if (link === undefined) throw new LeveeError("internal", `There is no link ${at} in the chain of ${chain.network}`);
  const isWanted = result !== undefined && prevResultAtDel(chain.cniVersion);
  const stdin = isWanted ? withPrevResult(link.stdin, finalResult(chain, result)) : link.stdin;
  await runPlain(hand, "DEL", { chain, link, place, stdin });
}

/** The words are only compared. A plugin that failed half-way says something else at DEL, and keeps its request. */
function isRefusedAgain(thrown: unknown, { refusal, at, linksAdded }: DelOptions & { readonly at: number }): boolean {
  if (!(thrown instanceof LeveeError) || thrown.code !== "delegate-failed" || at < linksAdded) return false;
  return refusal?.includes(thrown.message) === true;
}
