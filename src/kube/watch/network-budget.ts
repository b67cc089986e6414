import type { Change } from "../../view/change.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

/** Five thousand networks of 4 KiB, a quarter of the daemon's memory. A user who creates networks must not fill the rest. */
const charsMax = 25_165_824;
/** A network of at most this size is always kept. The usual size is 1 KiB. */
const smallChars = 16_384;
/** The longest configuration that a plugin may have, so a longer one is of no use. */
const usableChars = 262_144;

interface BudgetOptions {
  readonly known: (namespace: string, name: string) => NetworkDefinition | undefined;
  readonly charsMax?: number;
}

/** Keeps the local copy of networks within a bound: long ones are kept without configuration and read when needed. */
export class NetworkBudget {
  readonly #options: BudgetOptions;
  /** Characters in the copy. */
  #kept = 0;
  /** Additional characters of a list that is being read, by name, because a list that fails begins again. */
  readonly #coming = new Map<string, number>();
  #comingSum = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  fit(network: NetworkDefinition): NetworkDefinition {
    const { known, charsMax: limit = charsMax } = this.#options;
    const length = charsOf(network);
    const more = length - charsOf(known(network.namespace, network.name));
    const key = `${network.namespace}/${network.name}`;
    this.#comingSum -= this.#coming.get(key) ?? 0;
    const isTooMuch = length > smallChars && this.#kept + this.#comingSum + more > limit;
    const isKept = !isTooMuch && length <= usableChars;
    this.#coming.set(key, isKept ? more : 0);
    this.#comingSum += isKept ? more : 0;
    return isKept ? network : elided(network, length);
  }

  /** The copy has changed, and now has the networks that were coming. */
  changed({ before, now }: Change<NetworkDefinition>): void {
    this.#kept += charsOf(now) - charsOf(before);
    this.#coming.clear();
    this.#comingSum = 0;
  }
}

function charsOf(network: NetworkDefinition | undefined): number {
  return network?.config?.length ?? 0;
}

/** The replacement text is a JSON string, so it cannot be taken for a configuration, and it says why. */
function elided(network: NetworkDefinition, length: number): NetworkDefinition {
  const config = JSON.stringify(`it has ${length} characters and is not kept in the local copy`);
  return { ...network, config, isElided: true };
}
