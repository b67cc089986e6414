import { bytesText } from "../../storm/quantity.ts";
import type { Paint } from "../../terminal/paint.ts";
import type { BreakingPoint } from "./breaking-point.ts";
import type { NodeForecast } from "./forecast.ts";
import type { ClusterShape } from "./read-shape.ts";

/** One screen. */
const nodesShown = 6;

/** One paragraph per node, the one that is nearest to its next outage first. */
export function forecastText(shape: ClusterShape, nodes: readonly NodeForecast[], paint: Paint): string {
  const sorted = nodes.toSorted((one, other) => roomOf(one) - roomOf(other) || (one.name < other.name ? -1 : 1));
  const more = sorted.length > nodesShown ? [`${sorted.length - nodesShown} more nodes: -o json\n`] : [];
  return [
    `${shape.isLevee ? "Levee" : "Multus"} at ${limitsText(shape)}, ${costText(shape)}; every pod of a node at once, simulated\n\n`,
    ...sorted.slice(0, nodesShown).map((node) => nodeText(node, shape, paint)),
    ...more,
    ...shape.unseen.map((what) => `${paint("yellow", "‼")} Not known: ${what}\n`),
  ].join("");
}

/** How many more pods a node holds at once than it has. Below zero, the next storm is the next outage. */
export function roomOf({ now, pods }: NodeForecast): number {
  return now.holds - pods;
}

function nodeText(node: NodeForecast, shape: ClusterShape, paint: Paint): string {
  const { name, pods, now, withMultus, limitMib } = node;
  const room = roomOf(node);
  const state =
    room >= 0
      ? `${paint("green", "✓")} node ${name} holds its ${pods} pods at once`
      : `${paint("red", "×")} node ${name} does not hold its ${pods} pods at once, only ${now.holds}`;
  const distance = room < 0 ? "the next storm is the next outage" : `${room} pods from the next outage`;
  const multus = shape.isLevee
    ? `; with Multus at ${bytesText(shape.limitBytes)} it ${breaksText(withMultus, "would break")}`
    : "";
  const limit = limitMib === undefined ? `no limit up to 1Gi is enough` : `the limit for ${pods} is ${limitMib}Mi`;
  return `${state}; it ${breaksText(now, "breaks")}${now.why === "" ? "" : ` because ${now.why}`}${multus}; with Levee ${limit} (${distance})\n`;
}

function breaksText({ holds, breaks }: BreakingPoint, verb: string): string {
  return breaks === undefined
    ? `${verb === "breaks" ? "does" : "would"} not break up to ${holds}`
    : `${verb} at ${breaks}`;
}

function limitsText({ limitBytes, cpuMillis }: ClusterShape): string {
  return `${bytesText(limitBytes)}${cpuMillis === undefined ? "" : ` and ${cpuMillis}m of CPU`}`;
}

function costText({ plugins }: ClusterShape): string {
  return plugins === undefined
    ? "plugins as in the model"
    : `plugins need ${plugins.cpuMs.toPrecision(2)} ms of CPU per run, by ${plugins.runs} runs`;
}
