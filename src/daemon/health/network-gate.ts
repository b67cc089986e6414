import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { isBridgeType } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import { bridgeToLookFor } from "./network-needs.ts";
import { isGateClosed, uplinkWish } from "./uplink-wish.ts";

/** What the watch of the networks knows; absent before it has started. */
interface GateSource {
  keptFrom(network: string, definition?: NetworkDefinition): readonly string[] | undefined;
  signsOf(network: string): readonly string[];
  lookAgain(network: string, definition?: NetworkDefinition): Promise<void>;
}

/**
 * Keeps pods from a bridge network whose bridge or uplink the host lacks. The plugin would make the bridge and succeed,
 * and the pod would start on an island. The pod waits instead: its runtime retries, and the first try after the host's
 * work goes through.
 *
 * Pods of a ready network pay one STAT of their own shim, and no fork: the resident hand's last look says which folders
 * of sysfs prove that nothing changed since. The default network is left to its own CNI.
 */
export class NetworkGate {
  /** Set by the watch, which starts later than the verbs. */
  source: GateSource | undefined;
  /** For networks whose annotations say nothing. */
  readonly #isOn: boolean;

  constructor({ uplinkGate }: Pick<DaemonConfig, "uplinkGate">) {
    this.#isOn = uplinkGate !== 0;
  }

  async refuse(
    hand: Pick<Hand, "stat">,
    chains: readonly Chain[],
    definitions: ReadonlyMap<string, NetworkDefinition>,
  ): Promise<void> {
    for (const chain of chains) {
      if (chain.isDefault || !chain.links.some(({ type }) => isBridgeType(type))) continue;
      const definition = definitions.get(chain.network);
      if (!isGateClosed(definition?.annotations ?? {}, this.#isOn)) continue;
      const reasons = await this.#reasons(hand, chain, definition);
      if (reasons.length > 0) throw notReady(chain, reasons);
    }
  }

  async #reasons(
    hand: Pick<Hand, "stat">,
    chain: Chain,
    definition: NetworkDefinition | undefined,
  ): Promise<readonly string[]> {
    const { network } = chain;
    const source = this.source ?? noSource;
    if (source.keptFrom(network, definition)?.length === 0) {
      const gone = await missing(hand, source.signsOf(network));
      if (gone.length === 0) return [];
    }
    await source.lookAgain(network, definition);
    const reasons = source.keptFrom(network, definition) ?? [];
    if (reasons.length > 0) return reasons;
    // What was missing may be back. Without a look only the bridge can be asked for, which the plugin would make.
    const gone = await missing(hand, bridgesOf(chain, definition?.annotations ?? {}));
    return gone.map((path) => `missing host bridge ${path.split("/")[4] ?? ""}`);
  }
}

/** Nothing was looked at yet. */
const noSource: GateSource = { keptFrom: () => undefined, signsOf: () => [], lookAgain: () => Promise.resolve() };

/** The folders of the chain's bridges in sysfs, unless the site leaves them to the plugin. */
function bridgesOf({ links }: Chain, annotations: NetworkDefinition["annotations"]): readonly string[] {
  if (uplinkWish(annotations, true).isNone === true) return [];
  const bridges = links.flatMap(({ type, stdin }) => (isBridgeType(type) ? (bridgeToLookFor(stdin) ?? []) : []));
  return bridges.map((bridge) => `/sys/class/net/${bridge}/bridge`);
}

async function missing(hand: Pick<Hand, "stat">, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const found = await hand.stat(paths);
  return paths.filter((_, index) => found[index] === undefined);
}

function notReady({ network }: Chain, reasons: readonly string[]): LeveeError {
  return new LeveeError(
    "network-not-ready",
    `Cannot attach ${network} on this node yet: ${reasons.join(", ")}; the pod waits and starts by itself when the host is ready`,
  );
}
