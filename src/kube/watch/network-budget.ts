import type { Change, NetworkDefinition } from "./facts.ts";

/** Five thousand networks of 4 KiB, and a quarter of the daemon's memory: whoever may create networks must not fill the rest. */
const charsMax = 25_165_824;
/** No network of this size is ever left out; a usual one has 1 KiB. */
const smallChars = 16_384;
/** Nobody can use a longer one: it is more than a plugin's configuration may have. */
const usableChars = 262_144;

export interface BudgetOptions {
  readonly known: (namespace: string, name: string) => NetworkDefinition | undefined;
  readonly charsMax?: number;
}

/** Keeps the copies of networks within a bound: of the longest ones only that they exist. Those are read when needed. */
export class NetworkBudget {
  readonly #options: BudgetOptions;
  /** Of what is in the copy. */
  #kept = 0;
  /** Of a list that is being read, beyond what is in the copy: by name, because a list that fails begins again. */
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

  /** The copy has changed. What was coming is in it now. */
  changed({ before, now }: Change<NetworkDefinition>): void {
    this.#kept += charsOf(now) - charsOf(before);
    this.#coming.clear();
    this.#comingSum = 0;
  }
}

function charsOf(network: NetworkDefinition | undefined): number {
  return network?.config?.length ?? 0;
}

/** The text in its place is no configuration, so nobody can take it for one, and says why. */
function elided(network: NetworkDefinition, length: number): NetworkDefinition {
  const config = JSON.stringify(`it has ${length} characters and is not kept in the local copy`);
  return { ...network, config, isElided: true };
}
