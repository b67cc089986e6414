import { bytesText } from "../../storm/quantity.ts";
import type { Paint } from "../../terminal/paint.ts";
import type { BreakingPoint } from "./breaking-point.ts";
import type { NodeForecast } from "./forecast.ts";
import type { CniDaemonShape } from "./node-daemons.ts";
import type { NodeShape } from "./node-shape.ts";
import type { ClusterShape } from "./read-shape.ts";

/** One screen. */
const nodesShown = 6;

/** One paragraph per node, the one that is nearest to its next outage first. */
export function forecastText(shape: ClusterShape, nodes: readonly NodeForecast[], paint: Paint): string {
  const sorted = nodes.toSorted(
    (one, other) => roomOf(one) - roomOf(other) || (one.node.name < other.node.name ? -1 : 1),
  );
  const more = sorted.length > nodesShown ? [`${sorted.length - nodesShown} more nodes: -o json\n`] : [];
  return [
    `Every pod of a node at once, simulated; ${costText(shape)}\n\n`,
    ...sorted.slice(0, nodesShown).map((node) => nodeText(node, paint)),
    ...more,
    ...shape.unseen.map((what) => `${paint("yellow", "‼")} Not known: ${what}\n`),
  ].join("");
}

/** How many more pods a node holds at once than it has. Below zero, the next storm is the next outage. */
export function roomOf({ now, node }: NodeForecast): number {
  return now.holds - node.pods;
}

function nodeText(forecast: NodeForecast, paint: Paint): string {
  const { node, now, multus, withMultus, limitMib, leveeLimitMib } = forecast;
  const { name, pods, daemon } = node;
  const room = roomOf(forecast);
  const isLevee = daemon.impl === "levee";
  const otherwise = isLevee
    ? `; with Multus at ${limitsText(multus)} it ${breaksText(withMultus, "would break", "would")}`
    : "";
  const levee = isLevee ? "" : `; with Levee ${limitText(pods, leveeLimitMib)}`;
  return [
    room >= 0
      ? `${paint("green", "✓")} node ${name} holds ${pods} pods at once`
      : `${paint("red", "×")} node ${name} does not hold its ${pods} pods at once, only ${now.holds}`,
    `; it ${breaksText(now, "breaks", "does")}${now.why === "" ? "" : ` because ${now.why}`}`,
    `${otherwise}; ${limitText(pods, limitMib)}${levee}; `,
    room >= 0 ? `${room} pods from the next outage\n` : "the next storm is the next outage\n",
    `  ${factsText(node)}\n`,
  ].join("");
}

function breaksText({ holds, breaks }: BreakingPoint, verb: string, not: string): string {
  return breaks === undefined ? `${not} not break up to ${holds}` : `${verb} at ${breaks}`;
}

function limitText(pods: number, limitMib: number | undefined): string {
  return limitMib === undefined ? `no limit up to 1Gi is enough for ${pods}` : `the limit for ${pods} is ${limitMib}Mi`;
}

/** What was read of the node. */
function factsText({ daemon, cores, critical, networksMix, chain }: NodeShape): string {
  const mean = networksMix.reduce((sum, one) => sum + one, 0) / Math.max(1, networksMix.length);
  const networks = Number(mean.toPrecision(2));
  return [
    daemonText(daemon),
    ...(cores === undefined ? [] : [`${cores} ${cores === 1 ? "core" : "cores"}`]),
    `${networks} ${networks === 1 ? "network" : "networks"} per pod besides the default one`,
    `${critical} critical ${critical === 1 ? "pod" : "pods"}`,
    ...(chain === undefined
      ? []
      : [`${msText(chain.cpuMs)} of CPU and ${msText(chain.waitMs)} of waiting per network`]),
  ].join(", ");
}

function daemonText(daemon: CniDaemonShape): string {
  const name = daemon.impl === "levee" ? "Levee" : `Multus ${daemon.impl.slice("multus-".length)}`;
  return `${name} at ${limitsText(daemon)}`;
}

function limitsText({ limitBytes, cpuMillis }: CniDaemonShape): string {
  return `${bytesText(limitBytes)}${cpuMillis === undefined ? "" : ` and ${cpuMillis}m of CPU`}`;
}

function costText({ plugins }: ClusterShape): string {
  if (plugins === undefined) return "plugins cost what they do in the model";
  const { cpuMs, waitMs, runs } = plugins;
  return `a run of a plugin costs ${msText(cpuMs)} of CPU and waits ${msText(waitMs)}, by ${runs} runs on this cluster`;
}

function msText(ms: number): string {
  return `${Number(ms.toPrecision(2))} ms`;
}
