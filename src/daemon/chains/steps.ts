import type { JsonText } from "../../base/brand.ts";
import type { Chain } from "../../cni/chain.ts";

/**
 * Numbers the steps of an ADD: each chain's links in order, then its routes. The plan fixes the numbers, so that the
 * next daemon knows which step a shim means.
 */
export function stepOf(chains: readonly Chain[], chainIndex: number, linkIndex: number): number {
  let step = 1;
  for (const chain of chains.slice(0, chainIndex)) step += chain.links.length + 1;
  return step + linkIndex;
}

/** The step that edits routes after a chain has run. */
export function routesStepOf(chains: readonly Chain[], chainIndex: number): number {
  return stepOf(chains, chainIndex, chains[chainIndex]?.links.length ?? 0);
}

/** The part of a plan that is known to have finished. */
export interface Progress {
  readonly chains: readonly Chain[];
  readonly steps: ReadonlyMap<number, { readonly result: JsonText | undefined }>;
}

/**
 * How many links of a chain may have done something: the finished ones, and the next one when it may have been
 * `underWay`. It is 0 for a chain whose predecessor did not finish.
 */
export function linksStarted(progress: Progress, chainIndex: number, underWay: 0 | 1 = 1): number {
  const { chains, steps } = progress;
  const chain = chains[chainIndex];
  if (chain === undefined) return 0;
  if (chainIndex > 0 && !isFinished(progress, chainIndex - 1)) return 0;
  const finished = chain.links.findIndex((_link, index) => !steps.has(stepOf(chains, chainIndex, index)));
  return finished < 0 ? chain.links.length : finished + underWay;
}

/** Whether a chain has run to its end, with its route edits if it has any. */
function isFinished({ chains, steps }: Progress, chainIndex: number): boolean {
  const chain = chains[chainIndex];
  if (chain === undefined) return false;
  const last = hasRouteEdits(chain) ? routesStepOf(chains, chainIndex) : routesStepOf(chains, chainIndex) - 1;
  return steps.has(last);
}

/** Most chains leave the default routes as the plugins made them, and have no such step. */
export function hasRouteEdits({ routes }: Chain): boolean {
  return routes.dropV4 || routes.dropV6 || routes.gateways.length > 0;
}

/** The newest result of a chain, which is the best prevResult for undoing it. */
export function lastResult(progress: Progress, chainIndex: number): JsonText | undefined {
  const links = progress.chains[chainIndex]?.links ?? [];
  for (let index = links.length - 1; index >= 0; index -= 1) {
    const result = progress.steps.get(stepOf(progress.chains, chainIndex, index))?.result;
    if (result !== undefined) return result;
  }
  return undefined;
}
