import type { NodeCell } from "../../src/wire/console-view.ts";
import type { SignState } from "../parts/sign.tsx";

/** How the cells lie: `columns` in a row, each `cell` pixels wide and high. */
export interface MapLayout {
  readonly columns: number;
  readonly rows: number;
  readonly cell: number;
}

const cellMin = 9;
const cellMax = 40;

/** The largest cell with which all nodes fit into the room, between what a person can see and what looks like a cell. */
export function mapLayout(count: number, width: number, height: number): MapLayout {
  const ideal = Math.sqrt((width * height) / Math.max(1, count));
  const cell = Math.max(cellMin, Math.min(cellMax, Math.floor(ideal)));
  const columns = Math.max(1, Math.floor(width / cell));
  return { columns, rows: Math.ceil(count / columns), cell };
}

/** The layers of the map, from below: a shape per state, the cross on broken nodes, the corner of those due for a reboot. */
const layers = ["ok", "busy", "warning", "failed", "unknown", "cross", "reboot"] as const;
type Layer = (typeof layers)[number];

/** One path per layer for all nodes: 5,000 cells are seven elements. */
export function mapPaths(nodes: readonly NodeCell[], layout: MapLayout): readonly (readonly [Layer, string])[] {
  const parts = new Map<Layer, string[]>(layers.map((layer) => [layer, []]));
  for (const [index, { state, rebootMs }] of nodes.entries()) {
    const { x, y } = placeOf(index, layout);
    parts.get(state)?.push(shapes[state](x, y, layout.cell));
    if (state === "failed") parts.get("cross")?.push(cross(x, y, layout.cell));
    if (rebootMs !== undefined) parts.get("reboot")?.push(corner(x, y, layout.cell));
  }
  return [...parts].map(([layer, drawn]) => [layer, drawn.join("")]);
}

export function placeOf(index: number, { columns, cell }: MapLayout): { readonly x: number; readonly y: number } {
  return { x: (index % columns) * cell, y: Math.floor(index / columns) * cell };
}

/** The node under a point, if one is there. */
export function indexAt(x: number, y: number, { columns, cell }: MapLayout, count: number): number | undefined {
  const column = Math.floor(x / cell);
  const index = Math.floor(y / cell) * columns + column;
  return column < 0 || column >= columns || index < 0 || index >= count ? undefined : index;
}

type Shape = (x: number, y: number, cell: number) => string;

const shapes: Readonly<Record<SignState, Shape>> = {
  ok: (x, y, cell) => square(x, y, cell, 0.3),
  busy: (x, y, cell) => square(x, y, cell, 0.14),
  warning: (x, y, cell) =>
    `M${n(x + cell / 2)} ${n(y + cell * 0.08)}l${n(cell * 0.44)} ${n(cell * 0.84)}h${n(-cell * 0.88)}z`,
  failed: (x, y, cell) => square(x, y, cell, 0.04),
  unknown: (x, y, cell) => square(x, y, cell, 0.16) + hole(x, y, cell, 0.3),
};

function square(x: number, y: number, cell: number, inset: number): string {
  const side = n(cell * (1 - 2 * inset));
  return `M${n(x + cell * inset)} ${n(y + cell * inset)}h${side}v${side}h-${side}z`;
}

/** Drawn the other way round, a square is a hole in another one. */
function hole(x: number, y: number, cell: number, inset: number): string {
  const side = n(cell * (1 - 2 * inset));
  return `M${n(x + cell * inset)} ${n(y + cell * inset)}v${side}h${side}v-${side}z`;
}

function cross(x: number, y: number, cell: number): string {
  const [near, far, thin] = [cell * 0.28, cell * 0.72, cell * 0.1];
  const stroke = (x1: number, y1: number, x2: number, y2: number): string =>
    `M${n(x1 - thin)} ${n(y1)}L${n(x2 - thin)} ${n(y2)}h${n(2 * thin)}L${n(x1 + thin)} ${n(y1)}z`;
  return stroke(x + near, y + near, x + far, y + far) + stroke(x + far, y + near, x + near, y + far);
}

function corner(x: number, y: number, cell: number): string {
  const side = n(cell * 0.38);
  return `M${n(x + cell)} ${n(y)}v${side}l-${side}-${side}z`;
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
