import { createHash } from "node:crypto";
import { resourceNameAnnotation } from "../../base/annotations.ts";
import { firstChars } from "../../base/short-text.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { Named } from "../../kube/watch/object-store.ts";
import type { AddressPool, WhereaboutsLeases } from "../../lint/addresses/address-reading.ts";
import type { SegmentPools } from "../../lint/addresses/overlap.ts";
import { readAddresses } from "../../lint/addresses/read-addresses.ts";
import { configKey } from "../../lint/config-key.ts";
import { readNetwork } from "../../lint/read-network.ts";
import { networkSegment } from "../../lint/segment.ts";
import { timeMs } from "../json-values.ts";

/**
 * A network definition as the guard keeps it: its configuration as a hash, and the ranges that can be compared. So a
 * definition takes little memory, however long its configuration is.
 */
export interface WatchedNetwork extends Named {
  readonly uid: string;
  readonly createdMs: number;
  readonly configHash: string;
  /** Absent for plugins that say nothing about their segment, and for definitions without ranges. */
  readonly segment?: { readonly key: string; readonly text: string };
  readonly pools: SegmentPools<unknown>["pools"];
  /** The ranges of which whereabouts gives addresses. Absent without one, and for those that are too many to count. */
  readonly counted?: readonly CountedPool[];
}

/** A range of whereabouts with what is needed to find its leases. */
export interface CountedPool extends Pick<AddressPool, "ranges" | "subnet"> {
  readonly leases: WhereaboutsLeases;
}

/** The longest configuration that a plugin may have; a longer one is compared, but not read. */
const readableChars = 262_144;
/** More ranges than a person writes. The rest is not compared. */
const rangesMax = 64;
/** The parts between many excluded addresses are ranges, too. */
const countedRangesMax = 512;
/** Names of interfaces and bridges have 15 characters, those of resources some more. */
const segmentCharsMax = 400;
const hashChars = 32;

/** Undefined for a value that is not a definition with a name. */
export function projectWatchedNetwork(value: unknown): WatchedNetwork | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const [namespace, name] = [textOf(metadata["namespace"]), textOf(metadata["name"])];
  if (namespace === "" || name === "") return undefined;
  const config = textOf(objectOf(objectOf(value)["spec"])["config"]);
  const isReadable = config !== "" && config.length <= readableChars;
  const resourceName = textOf(objectOf(metadata["annotations"])[resourceNameAnnotation]);
  return {
    namespace,
    name,
    uid: textOf(metadata["uid"]),
    createdMs: timeMs(metadata["creationTimestamp"]),
    configHash: hashOf(isReadable ? configKey(config) : config),
    ...(isReadable ? rangesOf({ namespace, name, config, resourceName }) : { pools: [] }),
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, hashChars);
}

interface Definition extends Named {
  readonly config: string;
  readonly resourceName: string;
}

type ReadRanges = Pick<WatchedNetwork, "segment" | "pools" | "counted">;

function rangesOf({ namespace, name, config, resourceName }: Definition): ReadRanges {
  const annotations = resourceName === "" ? {} : { [resourceNameAnnotation]: resourceName };
  const object = { title: networkTitle({ namespace, name }), namespace, name, annotations, locate: nowhere };
  const read = readNetwork({ ...object, config, isConfigNoText: false });
  if ("code" in read) return { pools: [] };
  const { pools } = readAddresses(read);
  const segment = pools.length === 0 ? undefined : networkSegment(read);
  if (segment === undefined || segment.key.length > segmentCharsMax) return { pools: [], ...countedOf(pools) };
  const { key, text } = segment;
  return {
    segment: { key, text: firstChars(text, segmentCharsMax) },
    pools: firstRanges(pools.map(({ ranges, leaseKey }) => ({ ranges, leaseKey }))),
    ...countedOf(pools),
  };
}

function countedOf(pools: readonly AddressPool[]): Pick<WatchedNetwork, "counted"> {
  const counted = pools.flatMap(({ ranges, subnet, leases }) =>
    leases === undefined || ranges.length === 0 ? [] : [{ ranges, subnet, leases }],
  );
  const count = counted.reduce((sum, { ranges }) => sum + ranges.length, 0);
  return count === 0 || count > countedRangesMax ? {} : { counted };
}

function firstRanges(pools: WatchedNetwork["pools"]): WatchedNetwork["pools"] {
  let left = rangesMax;
  return pools.flatMap(({ ranges, leaseKey }) => {
    const kept = ranges.slice(0, left);
    left -= kept.length;
    return kept.length === 0 ? [] : [{ ranges: kept, leaseKey: firstChars(leaseKey, segmentCharsMax) }];
  });
}

export function networkTitle({ namespace, name }: Named): string {
  return `NetworkAttachmentDefinition ${namespace}/${name}`;
}

/** The guard names the object only. */
function nowhere(): { file: string; line: number; column: number; endLine: number; endColumn: number } {
  return { file: "", line: 1, column: 1, endLine: 1, endColumn: 1 };
}
