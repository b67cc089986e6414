import type { SimStormFault } from "../../../sim/storm/sim-storm-plan.ts";
import { defaultNetwork } from "../../../sim/story/story.ts";
import type { FieldReader, FieldValues } from "./read-fields.ts";
import { instantFaults, networkFaults, scenarioMax, stormFaults } from "./scenario-fields.ts";
import { msOf, requireNetwork, type ScenarioPlace } from "./scenario-pods.ts";

type Fault = SimStormFault["fault"];

/** How long a fault lasts that does not say it. */
export const usualForMs = 60_000;
/** More often, and a process would not live long enough to be killed. */
const everyMsMin = 100;

/** The faults on each node that they name. One of the API server is the whole cluster's, and is there once. */
export function faultsOf(groups: readonly FieldValues[], place: ScenarioPlace): readonly SimStormFault[] {
  return groups.flatMap((group, at) => {
    const path = `faults[${at}]`;
    const kind = group["kind"] as Fault["kind"];
    if (!isOf(stormFaults, kind)) {
      place.reader.also(`${path}.kind`, `is ${group["kind"] as string}, which fits only reboots: leave it out`);
      return [];
    }
    const on = place.nodes.of(group["nodes"] as readonly string[] | undefined, `${path}.nodes`, place.reader);
    const nodes = kind.startsWith("api-") ? on.slice(0, 1) : on;
    return faultsAt(group, kind, { ...place, path }).flatMap((fault) => nodes.map((node) => ({ node, fault })));
  });
}

function faultsAt(
  group: FieldValues,
  kind: Fault["kind"],
  at: ScenarioPlace & { readonly path: string },
): readonly Fault[] {
  const { path, networks, reader } = at;
  const atMs = msOf(group, "at");
  const forMs = group["for"] === undefined ? usualForMs : msOf(group, "for");
  const network = group["network"] as string | undefined;
  if (isOf(instantFaults, kind)) {
    if (network !== undefined) misfit(reader, `${path}.network`, kind);
    return instantsOf(group, { atMs, forMs, at }).map((eachMs) => ({ kind, atMs: eachMs }));
  }
  if (group["every"] !== undefined) misfit(reader, `${path}.every`, `${kind}, which lasts`);
  if (isOf(networkFaults, kind)) {
    const known = [...new Set([...networks, defaultNetwork])];
    if (network === undefined)
      reader.also(`${path}.kind`, `is ${reader.seen(`${path}.kind`)} without network: add one of ${known.join(", ")}`);
    else requireNetwork({ name: network, place: `${path}.network`, networks: known, reader });
    return [{ kind, atMs, forMs, network: network ?? "" }];
  }
  if (network !== undefined) misfit(reader, `${path}.network`, kind);
  return [{ kind, atMs, forMs }];
}

function misfit(reader: FieldReader, place: string, what: string): void {
  reader.also(place, `is ${reader.seen(place)}, which does not fit ${what}: leave it out`);
}

interface Instants {
  readonly atMs: number;
  readonly forMs: number;
  readonly at: Pick<ScenarioPlace, "reader"> & { readonly path: string };
}

/** When something happens that may be repeated. */
export function instantsOf(group: FieldValues, { atMs, forMs, at: { path, reader } }: Instants): readonly number[] {
  const everyMs = group["every"] as number | undefined;
  if (everyMs === undefined) {
    if (group["for"] !== undefined)
      reader.also(`${path}.for`, `is ${reader.seen(`${path}.for`)} without every: add it, or leave this out`);
    return [atMs];
  }
  if (everyMs < everyMsMin) {
    reader.also(`${path}.every`, `is ${everyMs}ms: it must be at least ${everyMsMin}ms`);
    return [];
  }
  const times = Math.floor(forMs / everyMs) + 1;
  if (times > scenarioMax.faults) {
    const seen = reader.seen(`${path}.every`);
    reader.also(
      `${path}.every`,
      `is ${seen}, which makes ${times} faults: at most ${scenarioMax.faults}, such as with a larger every`,
    );
    return [];
  }
  return Array.from({ length: times }, (_, number) => atMs + number * everyMs);
}

export function isOf<K extends string>(kinds: readonly K[], kind: string): kind is K {
  return kinds.some((one) => one === kind);
}
