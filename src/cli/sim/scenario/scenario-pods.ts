import type { SimStormPod } from "../../../sim/storm/sim-storm-plan.ts";
import type { FieldReader, FieldValues } from "./read-fields.ts";
import { scenarioMax } from "./scenario-fields.ts";

/** The nodes of a scenario, also by the name of their group. */
export class NodeNames {
  readonly all: readonly string[];
  readonly #groups = new Map<string, readonly string[]>();

  constructor(groups: readonly FieldValues[], reader: FieldReader) {
    const all: string[] = [];
    // Not made first and counted then: a file of one MiB has room for millions.
    const wanted = sumOf(groups);
    if (wanted > scenarioMax.nodes) reader.also("nodes", `are ${wanted} in all: at most ${scenarioMax.nodes}`);
    (wanted > scenarioMax.nodes ? [] : groups).forEach((group, at) => {
      const name = group["name"] as string;
      const count = group["count"] as number | undefined;
      const names = count === undefined ? [name] : numbered(name, count);
      if (names.some((one) => all.includes(one)) || this.#groups.has(name))
        reader.also(`nodes[${at}]`, `has the name ${name}, which is there already: give it another one`);
      this.#groups.set(name, names);
      all.push(...names);
    });
    this.all = all;
  }

  /** All nodes where none is named. */
  of(wanted: readonly string[] | undefined, place: string, reader: FieldReader): readonly string[] {
    if (wanted === undefined) return this.all;
    return wanted.flatMap((name, at) => {
      const found = this.all.includes(name) ? [name] : this.#groups.get(name);
      if (found === undefined)
        reader.also(
          `${place}[${at}]`,
          `is ${JSON.stringify(name)}: it must be one of ${[...this.#groups.keys()].join(", ")}`,
        );
      return found ?? [];
    });
  }
}

export interface ScenarioPlace {
  readonly nodes: NodeNames;
  readonly networks: readonly string[];
  readonly reader: FieldReader;
}

/** The pods of all groups, spread evenly over their nodes. */
export function groupedPods(groups: readonly FieldValues[], place: ScenarioPlace): readonly SimStormPod[] {
  const wanted = sumOf(groups);
  if (wanted > scenarioMax.pods) {
    place.reader.also("pods", `are ${wanted} in all: at most ${scenarioMax.pods}`);
    return [];
  }
  const taken = new Set<string>();
  return groups.flatMap((group, at) => {
    const pods = groupOf(group, `pods[${at}]`, place);
    const key = `${pods[0]?.namespace}/${group["name"] as string}`;
    if (taken.has(key))
      place.reader.also(`pods[${at}]`, `has the name ${key}, which is there already: give it another one`);
    taken.add(key);
    return pods;
  });
}

function sumOf(groups: readonly FieldValues[]): number {
  return groups.reduce((sum, group) => sum + ((group["count"] as number | undefined) ?? 1), 0);
}

function groupOf(group: FieldValues, at: string, { nodes, networks, reader }: ScenarioPlace): readonly SimStormPod[] {
  const count = (group["count"] as number | undefined) ?? 1;
  const on = nodes.of(group["nodes"] as readonly string[] | undefined, `${at}.nodes`, reader);
  const wanted = (group["networks"] as readonly string[] | undefined) ?? [];
  wanted.forEach((name, index) => requireNetwork({ name, place: `${at}.networks[${index}]`, networks, reader }));
  const [atMs, overMs] = [msOf(group, "at"), msOf(group, "over")];
  const deletes = group["deleteAt"] !== undefined;
  const [deleteAtMs, deleteOverMs] = [msOf(group, "deleteAt"), msOf(group, "deleteOver")];
  if (deletes && deleteAtMs < atMs)
    reader.also(
      `${at}.deleteAt`,
      `is ${reader.seen(`${at}.deleteAt`)}, which is before at: pods are deleted after they have come`,
    );
  if (!deletes && deleteOverMs > 0)
    reader.also(
      `${at}.deleteOver`,
      `is ${reader.seen(`${at}.deleteOver`)} without deleteAt: add it, or leave this out`,
    );
  return numbered(group["name"] as string, count).map((name, number) => {
    const share = count === 1 ? 0 : number / (count - 1);
    return {
      node: on[number % Math.max(1, on.length)] ?? "",
      namespace: (group["namespace"] as string | undefined) ?? "default",
      name,
      isCritical: group["critical"] === true,
      networks: wanted,
      atMs: atMs + overMs * share,
      deleteAtMs: deletes ? Math.max(deleteAtMs + deleteOverMs * share, atMs + overMs * share) : undefined,
      mustRun: group["mayWait"] !== true,
    };
  });
}

interface NetworkUse {
  readonly name: string;
  readonly place: string;
  readonly networks: readonly string[];
  readonly reader: FieldReader;
}

export function requireNetwork({ name, place, networks, reader }: NetworkUse): void {
  if (networks.includes(name)) return;
  const known = networks.length === 0 ? "there are none" : `they are ${networks.join(", ")}`;
  reader.also(place, `is ${JSON.stringify(name)}, which is not in networks: ${known}`);
}

export function msOf(group: FieldValues, key: string): number {
  return (group[key] as number | undefined) ?? 0;
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `${name}-${number + 1}`);
}
