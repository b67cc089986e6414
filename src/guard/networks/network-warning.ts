import { poolOverlaps } from "../../lint/addresses/overlap.ts";
import { overlapText } from "../../lint/rules/address-rule.ts";
import { changedText, deletedText } from "../../lint/rules/edit-rule.ts";
import type { DefinitionChange } from "./change-book.ts";
import { namedPods } from "./network-users.ts";
import { networkTitle, type WatchedNetwork } from "./watched-network.ts";

/** What the guard says about one network definition. It stands for as long as it is true. */
export interface NetworkWarning {
  readonly kind: "changed" | "deleted" | "overlap";
  readonly network: Pick<WatchedNetwork, "namespace" | "name" | "uid">;
  /** The same for the same matter: one event tells it. */
  readonly key: string;
  readonly message: string;
  /** How many running pods it hurts; 0 for ranges that overlap. */
  readonly pods: number;
  /** When a change was seen; absent for ranges that overlap. */
  readonly sinceMs?: number;
}

export function changeWarning({ kind, network, pods, sinceMs }: DefinitionChange): NetworkWarning {
  const named = namedPods(pods);
  const text =
    kind === "changed"
      ? `the configuration has changed: ${changedText(named)}`
      : `the definition was deleted: ${deletedText(named)}`;
  return {
    kind,
    network,
    key: [kind, network.namespace, network.name, network.uid, kind === "changed" ? network.configHash : ""].join("\n"),
    message: `LVN0703: ${text}`,
    pods: named.count,
    sinceMs,
  };
}

/** Of two definitions the younger one is named, which can most easily be changed. */
export function overlapWarnings(networks: Iterable<WatchedNetwork>): readonly NetworkWarning[] {
  const known = [...networks]
    .toSorted((left, right) => left.createdMs - right.createdMs || (networkTitle(left) < networkTitle(right) ? -1 : 1))
    .flatMap((network) => {
      const { segment, pools } = network;
      return segment === undefined ? [] : [{ network: { network, segment }, segment: segment.key, pools }];
    });
  return poolOverlaps(known).map(({ network: { network, segment }, other, shared }) => {
    const message = `LVN0503: ${overlapText(shared, segment, networkTitle(other.network))}`;
    return {
      kind: "overlap",
      network,
      key: ["overlap", network.namespace, network.name, network.uid, message].join("\n"),
      message,
      pods: 0,
    };
  });
}
