import type { SimEvent } from "../node/sim-event.ts";

/** A critical ADD that waits for its first plugin. */
interface WaitingAdd {
  readonly node: string;
  /** ADDs of other pods that came later and started earlier. */
  overtakers: number;
}

/**
 * Admission lets one other pod pass after eight critical ones, and a pod that is looked up goes while another is still
 * being looked up. Twelve are more than both together.
 */
const overtakersMax = 12;

/** The networks of a pod if it is critical; undefined if it is not. */
export type CriticalNetworks = (node: string, containerId: string) => readonly string[] | undefined;

/** Watches that critical pods are not overtaken. A fault may delay any of them, so those that met one do not count. */
export class CriticalLine {
  readonly #networksOf: CriticalNetworks;
  readonly #waiting = new Map<string, WaitingAdd>();
  /** Other ADDs by when they came, in numbers of critical ones that came before. */
  readonly #later = new Map<string, ReadonlySet<string>>();
  /** Networks that have hung or failed. Who waits for one is rightly passed by those that want another. */
  readonly #doubted = new Set<string>();
  /** A server that takes seconds for some answers decides itself which pod is known first. */
  #isLookUpSlow = false;

  constructor(networksOf: CriticalNetworks) {
    this.#networksOf = networksOf;
  }

  /** What is wrong; undefined when nothing is. */
  see(event: SimEvent): string | undefined {
    if (event.kind === "fault" || event.kind === "daemon") this.#disturbed(event.what);
    if (this.#isLookUpSlow) return undefined;
    if (event.kind === "call" && event.verb === "ADD") this.#came(event);
    if (event.kind === "answer") this.#gone(event.containerId);
    return event.kind === "run" && event.verb === "ADD" ? this.#started(event.containerId) : undefined;
  }

  #disturbed(what: string): void {
    this.#waiting.clear();
    this.#later.clear();
    this.#isLookUpSlow ||= what.includes('"api-slow"');
    const [, network] = /"network":"([^"]+)"/u.exec(what) ?? [];
    if (network !== undefined) this.#doubted.add(network);
  }

  #came({ node, containerId }: { node: string; containerId: string }): void {
    const networks = this.#networksOf(node, containerId);
    if (networks === undefined) this.#later.set(containerId, new Set(this.#waiting.keys()));
    else if (!networks.some((name) => this.#doubted.has(name))) this.#waiting.set(containerId, { node, overtakers: 0 });
  }

  #started(containerId: string): string | undefined {
    this.#waiting.delete(containerId);
    const before = this.#later.get(containerId);
    this.#later.delete(containerId);
    for (const id of before ?? []) {
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) continue;
      waiting.overtakers += 1;
      if (waiting.overtakers > overtakersMax)
        return `${waiting.overtakers} later ADDs started before that of critical ${id}`;
    }
    return undefined;
  }

  #gone(containerId: string): void {
    this.#waiting.delete(containerId);
    this.#later.delete(containerId);
  }
}
