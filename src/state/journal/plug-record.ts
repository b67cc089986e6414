import type { IfName, JsonText } from "../../base/brand.ts";
import type { ProcessIdentity } from "../../base/identity.ts";
import type { Chain } from "../../cni/chain.ts";

/**
 * A change of a running pod's networks that is under way. Its record keeps it from before the first plugin runs until
 * the pod has its new networks, or the old ones again.
 */
export interface PlugRecord {
  /** The resident hand that works on it. */
  readonly hand: ProcessIdentity;
  /** Interfaces of chains that go. */
  readonly leaving: readonly IfName[];
  /** Chains that come. */
  readonly joining: readonly Chain[];
  /** Finished steps of `joining`, by number. */
  readonly steps: ReadonlyMap<number, PlugStep>;
}

interface PlugStep {
  readonly step: number;
  readonly result: JsonText | undefined;
}

/** How a change of networks ended. */
export interface PlugEnd {
  /** Interfaces of chains that the pod no longer has. */
  readonly gone: readonly IfName[];
  /** The result of each joining chain; empty when the pod did not get them. */
  readonly joined: readonly (JsonText | undefined)[];
  /** Chains that were detached and attached again, with their new results. */
  readonly renewed: readonly { readonly ifname: IfName; readonly result: JsonText }[];
}

interface PluggedRecord {
  readonly chains: readonly Chain[];
  readonly results: readonly (JsonText | undefined)[];
  readonly plug?: PlugRecord | undefined;
}

/** The chains and results after the end of a change. */
export function plugEnded({ chains, results, plug }: PluggedRecord, end: PlugEnd): Required<PluggedRecord> {
  const stays = chains
    .map((chain, index) => ({ chain, result: renewedResult(end, chain) ?? results[index] }))
    .filter(({ chain }) => !end.gone.includes(chain.ifname));
  const joined = end.joined.length === 0 ? [] : (plug?.joining ?? []);
  const all = [...stays, ...joined.map((chain, index) => ({ chain, result: end.joined[index] }))];
  return { chains: all.map(({ chain }) => chain), results: all.map(({ result }) => result), plug: undefined };
}

function renewedResult({ renewed }: PlugEnd, { ifname }: Chain): JsonText | undefined {
  return renewed.find((one) => one.ifname === ifname)?.result;
}
