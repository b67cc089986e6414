import { defaultGateSettings } from "../../../guard/gate/gate-settings.ts";
import { parseRebootWindow, type RebootWindow } from "../../../guard/gate/reboot-window.ts";
import type { ClusterAct, GuardFault } from "../../../sim/guard/guard-story.ts";
import type { RebootSettings } from "../../../sim/guard/reboot-settings.ts";
import type { DueNode, RebootPlan } from "../../../sim/reboot/reboot-plan.ts";
import { usualWallStartMs } from "../../../sim/time/sim-time.ts";
import { usageFailure } from "../../failure.ts";
import type { FieldReader, FieldValues } from "./read-fields.ts";
import { instantsOf, isOf, usualForMs } from "./scenario-faults.ts";
import { guardFaults, guardInstants, guardNodeSpells, scenarioMax } from "./scenario-fields.ts";
import { msOf, NodeNames } from "./scenario-pods.ts";

interface RebootWords {
  readonly impl?: string;
  readonly seed?: number;
}

/** Nobody waits for more of it. */
const spanMsMax = 7 * 24 * 3_600_000;
/** More often, and the looks would be all that is simulated. */
const spanMsMin = 1_000;
const usual = { takes: 120_000, lookEvery: 300_000, door: "label", atOnce: 1, guards: 2 } as const;
const usualWithinMs = 24 * 3_600_000;
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/u;

/** The plan of a scenario with reboots. */
export function rebootPlanOf(values: FieldValues, reader: FieldReader, { impl, seed }: RebootWords): RebootPlan {
  if (impl !== undefined)
    throw usageFailure(
      "Cannot choose what attaches the pods: this scenario has reboots and no pods",
      "leave out --impl",
    );
  refuseOthers(values, reader);
  const reboots: FieldValues = { ...usual, ...(values["reboots"] as FieldValues) };
  const promises = (values["promises"] ?? {}) as FieldValues;
  const nodes = new NodeNames((values["nodes"] ?? []) as readonly FieldValues[], reader);
  const withinMs = (promises["rebootedWithin"] as number | undefined) ?? usualWithinMs;
  for (const [place, ms, leastMs] of [
    ["reboots.at", msOf(reboots, "at"), 0],
    ["reboots.over", msOf(reboots, "over"), 0],
    ["reboots.takes", msOf(reboots, "takes"), spanMsMin],
    ["reboots.lookEvery", msOf(reboots, "lookEvery"), spanMsMin],
    ["promises.rebootedWithin", withinMs, spanMsMin],
  ] as const)
    requireSpan(reader, place, { ms, leastMs });
  return {
    title: values["name"] as string,
    seed: seed ?? (values["seed"] as number | undefined) ?? 1,
    nodes: nodes.all,
    due: dueNodes(reboots, nodes, reader),
    guards: reboots["guards"] as number,
    settings: settingsOf(reboots, reader),
    startWallMs: startOf(reboots["startsAt"] as string | undefined, reader),
    ...troublesOf((values["faults"] ?? []) as readonly FieldValues[], nodes, reader),
    withinMs,
  };
}

/** What belongs to a storm of pods. */
function refuseOthers(values: FieldValues, reader: FieldReader): void {
  if (values["pods"] !== undefined)
    reader.also("reboots", "cannot be beside pods: make two files, as a scenario plays either of them");
  for (const key of ["implementation", "daemon", "networks"])
    if (values[key] !== undefined) reader.also(key, "does not fit reboots: leave it out");
  const promises = (values["promises"] ?? {}) as FieldValues;
  for (const key of ["attachedWithin", "criticalWithin"])
    if (promises[key] !== undefined) reader.also(`promises.${key}`, "does not fit reboots: leave it out");
}

function requireSpan(reader: FieldReader, place: string, { ms, leastMs }: { ms: number; leastMs: number }): void {
  if (ms >= leastMs && ms <= spanMsMax) return;
  reader.also(place, `is ${ms / 1_000}s: it must be from ${leastMs / 1_000}s to ${spanMsMax / 3_600_000}h`);
}

function dueNodes(reboots: FieldValues, nodes: NodeNames, reader: FieldReader): readonly DueNode[] {
  const wanted = [...new Set(nodes.of(reboots["nodes"] as readonly string[] | undefined, "reboots.nodes", reader))];
  const [atMs, overMs] = [msOf(reboots, "at"), msOf(reboots, "over")];
  return wanted.map((node, number) => {
    return { node, atMs: atMs + (wanted.length === 1 ? 0 : Math.round((overMs * number) / (wanted.length - 1))) };
  });
}

function settingsOf(reboots: FieldValues, reader: FieldReader): RebootSettings {
  const window = windowOf(reboots["window"] as string | undefined, reader);
  const everyMs = msOf(reboots, "lookEvery");
  return {
    gate: {
      ...defaultGateSettings,
      atOnce: reboots["atOnce"] as number,
      // As the manifests have it; nobody has to open the ticket.
      doors: ["label"],
      ...(window === undefined ? {} : { window }),
    },
    door: reboots["door"] as RebootSettings["door"],
    // As kured does: the first look is somewhere within its period.
    askMs: { first: 0, min: everyMs, max: everyMs },
    rebootMs: msOf(reboots, "takes"),
  };
}

function windowOf(text: string | undefined, reader: FieldReader): RebootWindow | undefined {
  if (text === undefined) return undefined;
  const window = parseRebootWindow(text);
  if (!("problem" in window)) return window;
  reader.also(
    "reboots.window",
    `is ${JSON.stringify(text)}: ${window.problem}, such as Mon-Fri 02:00-05:00 Europe/Berlin`,
  );
  return undefined;
}

function startOf(text: string | undefined, reader: FieldReader): number {
  if (text === undefined) return usualWallStartMs;
  const wallMs = momentPattern.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(wallMs))
    reader.also(
      "reboots.startsAt",
      `is ${JSON.stringify(text)}: it must be a time in UTC, such as 2026-11-16T01:30:00Z`,
    );
  return wallMs;
}

interface Troubles {
  readonly acts: readonly ClusterAct[];
  readonly faults: readonly GuardFault[];
}

/** What goes wrong. What happens to nodes and alerts is an act of the cluster, all else a fault of a guard. */
function troublesOf(groups: readonly FieldValues[], nodes: NodeNames, reader: FieldReader): Troubles {
  const found = groups.flatMap((group, at) => troubleOf(group, `faults[${at}]`, { nodes, reader }));
  if (found.length > scenarioMax.faults)
    reader.also("faults", `are ${found.length} in all: at most ${scenarioMax.faults}, such as with a larger every`);
  const acts = found.flatMap(({ act }) => act ?? []);
  refuseOverlaps(acts, reader);
  const faults = found.flatMap(({ fault }) => fault ?? []);
  refuseOverlaps(faults, reader);
  return { acts, faults };
}

interface Trouble {
  readonly act?: ClusterAct;
  readonly fault?: GuardFault;
}

type Place = { readonly nodes: NodeNames; readonly reader: FieldReader };

function troubleOf(group: FieldValues, path: string, { nodes, reader }: Place): readonly Trouble[] {
  const kind = group["kind"] as string;
  if (!isOf(guardFaults, kind)) {
    reader.also(
      `${path}.kind`,
      `is ${kind}, which fits only pods: with reboots it is one of ${guardFaults.join(", ")}`,
    );
    return [];
  }
  const ofNode = isOf(guardNodeSpells, kind);
  refuseFields(group, path, { reader, isOfNode: ofNode, isInstant: isOf(guardInstants, kind) });
  const atMs = msOf(group, "at");
  const forMs = group["for"] === undefined ? usualForMs : msOf(group, "for");
  requireSpan(reader, path, { ms: atMs + forMs, leastMs: 0 });
  if (isOf(guardInstants, kind))
    return instantsOf(group, { atMs, forMs, at: { path, reader } }).map((eachMs) => ({
      fault: { kind, atMs: eachMs },
    }));
  if (ofNode) {
    const on = [...new Set(nodes.of(group["nodes"] as readonly string[] | undefined, `${path}.nodes`, reader))];
    return on.map((node) => ({ act: { kind, atMs, forMs, node } }));
  }
  return kind === "alert" || kind === "alertmanager-away"
    ? [{ act: { kind, atMs, forMs } }]
    : [{ fault: { kind, atMs, forMs } }];
}

interface Fitting {
  readonly reader: FieldReader;
  readonly isOfNode: boolean;
  readonly isInstant: boolean;
}

function refuseFields(group: FieldValues, path: string, { reader, isOfNode, isInstant }: Fitting): void {
  const kind = group["kind"] as string;
  for (const [key, fits] of [
    ["network", false],
    ["nodes", isOfNode],
    ["every", isInstant],
  ] as const)
    if (group[key] !== undefined && !fits) reader.also(`${path}.${key}`, `does not fit ${kind}: leave it out`);
}

/** The end of one would end the other. */
function refuseOverlaps(troubles: readonly (ClusterAct | GuardFault)[], reader: FieldReader): void {
  const ends = new Map<string, number>();
  for (const one of troubles.toSorted((left, right) => left.atMs - right.atMs)) {
    if (!("forMs" in one)) continue;
    const key = "node" in one ? `${one.kind} of ${one.node}` : one.kind;
    if (one.atMs < (ends.get(key) ?? 0))
      reader.also("faults", `have two times of ${key} that overlap: make them one, or let the second begin later`);
    ends.set(key, one.atMs + one.forMs);
  }
}
