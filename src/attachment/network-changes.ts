import type { IfName } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { networkNameOf, type SelectionElement } from "./selection-element.ts";

/** One step from the networks that a pod has to those that its annotation names. */
export interface NetworkChange {
  /** Chains that go. With `joining` it is a swap: they stand in the way of the new one. */
  readonly leaving: readonly Chain[];
  readonly joining?: JoiningNetwork;
}

export interface JoiningNetwork {
  readonly element: SelectionElement;
  readonly ifname: IfName;
}

interface Attached {
  readonly chains: readonly Chain[];
  /** Names of networks that every pod of the node gets. Old records do not mark their chains. */
  readonly ofNode: ReadonlySet<string>;
  /** Multus' files do not always hold the name by which a network was asked for. */
  readonly isImported: boolean;
}

/**
 * The steps, detachments first. A network and its interface name are one attachment; an element without a name means the
 * one that the record has. The default network and the node's own networks take no part.
 */
export function networkChanges(attached: Attached, elements: readonly SelectionElement[]): readonly NetworkChange[] {
  const own = attached.chains.filter((chain) => isOfPod(chain, attached));
  const found = match(own, elements, attached.isImported);
  const leaving = own.filter((chain) => !found.has(chain) && (hasNamespace(chain) || isPlugged(chain)));
  const matched = new Set(found.values());
  const stays = attached.chains.filter((chain) => !leaving.includes(chain));
  const nodeCount = stays.filter((chain) => !found.has(chain)).length;
  const names = new Names([...stays.map(({ ifname }) => ifname), ...elements.flatMap(({ ifname }) => ifname ?? [])]);
  const free = new Set(leaving);
  const joins = elements.flatMap((element, position): NetworkChange[] => {
    if (matched.has(element)) return [];
    const ifname = element.ifname ?? names.at(nodeCount + position);
    const inTheWay = [...free].filter((chain) => isInTheWay(chain, element, ifname));
    for (const chain of inTheWay) free.delete(chain);
    return [{ leaving: inTheWay, joining: { element, ifname } }];
  });
  return [...[...free].map((chain) => ({ leaving: [chain] })), ...joins];
}

/** The chains that the pod's annotation asked for. */
function isOfPod(chain: Chain, { ofNode, isImported }: Omit<Attached, "chains">): boolean {
  if (chain.isDefault || chain.isOfNode === true || ofNode.has(chain.network)) return false;
  return isImported || hasNamespace(chain);
}

/** Elements with an interface name first, so that one without a name does not take their chain. */
function match(
  own: readonly Chain[],
  elements: readonly SelectionElement[],
  isImported: boolean,
): ReadonlyMap<Chain, SelectionElement> {
  const found = new Map<Chain, SelectionElement>();
  const isFree = (chain: Chain, element: SelectionElement): boolean =>
    !found.has(chain) && chain.network === networkNameOf(element);
  for (const element of elements) {
    const chain = own.find((one) => one.ifname === element.ifname && isFree(one, element));
    if (chain !== undefined) found.set(chain, element);
  }
  for (const element of elements.filter(({ ifname }) => ifname === undefined)) {
    const free = own.filter((one) => isFree(one, element));
    const chain = free.find(({ multus }) => multus.request.ifname === undefined) ?? free[0];
    if (chain !== undefined) found.set(chain, element);
  }
  if (isImported) matchNameless(own, elements, found);
  return found;
}

/** In doubt an attachment of Multus stays: each chain without a namespace in its name stands for some element. */
function matchNameless(
  own: readonly Chain[],
  elements: readonly SelectionElement[],
  found: Map<Chain, SelectionElement>,
): void {
  const matched = new Set(found.values());
  for (const element of elements.filter((one) => !matched.has(one))) {
    const free = own.filter((chain) => !found.has(chain) && !hasNamespace(chain));
    const chain = free.find(({ ifname }) => ifname === element.ifname) ?? free.find((one) => !isPlugged(one));
    if (chain !== undefined) found.set(chain, element);
  }
}

function hasNamespace({ network }: Chain): boolean {
  return network.includes("/");
}

/**
 * A name without a namespace may be that of a network of the node. One that was asked for by an interface name was plugged
 * into the pod by Multus.
 */
function isPlugged({ multus }: Chain): boolean {
  return multus.request.ifname !== undefined;
}

/** Whether both cannot be there at once: they have an interface name, a MAC or an address in common. */
function isInTheWay({ ifname: held, multus }: Chain, { mac, ips = [] }: SelectionElement, ifname: IfName): boolean {
  const { request } = multus;
  if (held === ifname) return true;
  if (mac !== undefined && request.mac?.toLowerCase() === mac.toLowerCase()) return true;
  return ips.some((ip) => request.ips?.includes(ip) === true);
}

/** Interface names as an ADD chooses them: `net` and the place in the list; the next free one if that is taken. */
class Names {
  readonly #taken: Set<string>;

  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken);
  }

  at(place: number): IfName {
    let number = place;
    while (this.#taken.has(`net${number}`)) number += 1;
    const name = `net${number}`;
    this.#taken.add(name);
    return name as IfName; // short, no odd characters
  }
}
