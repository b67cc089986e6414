import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { NodeCell } from "../../src/wire/console-view.ts";
import { linkTo } from "../base/route.ts";
import { indexAt, mapLayout, mapPaths, placeOf, type MapLayout } from "./map-paths.ts";
import { NodeCard } from "./node-card.tsx";
import { stateWords } from "../parts/sign.tsx";

/** Thousands of nodes as one drawing. Arrow keys move from cell to cell, Enter opens the node. */
export function NodeMap({ nodes }: { readonly nodes: readonly NodeCell[] }): JSX.Element {
  const frame = useRef<HTMLDivElement>(null);
  const room = useRoom(frame);
  const chosen = useSignal<string | undefined>(undefined);
  const layout = mapLayout(nodes.length, room.width, room.height);
  const paths = useMemo(() => mapPaths(nodes, layout), [nodes, layout.columns, layout.cell]);
  const index = nodes.findIndex(({ name }) => name === chosen.value);
  const choose = (next: number | undefined): void => {
    chosen.value = next === undefined ? chosen.value : nodes[next]?.name;
  };
  return (
    <div class="map-frame">
      <div
        ref={frame}
        class="map"
        role="listbox"
        tabIndex={0}
        aria-label={`${nodes.length} nodes; arrow keys move, Enter opens`}
        aria-activedescendant={index === -1 ? undefined : "map-cell"}
        onKeyDown={(event) => onKey(event, { index, layout, count: nodes.length, choose, name: chosen.value })}
        onPointerMove={(event) => choose(indexOf(event, layout, nodes.length))}
        onClick={(event) => {
          const found = nodes[indexOf(event, layout, nodes.length) ?? -1];
          if (found !== undefined) location.hash = linkTo("find", "node", found.name);
        }}
      >
        <svg
          width={layout.columns * layout.cell}
          height={layout.rows * layout.cell}
          viewBox={`0 0 ${layout.columns * layout.cell} ${layout.rows * layout.cell}`}
          aria-hidden="true"
        >
          {paths.map(([layer, path]) => (
            <path class={`cell is-${layer}`} d={path} />
          ))}
          {index === -1 ? null : <Cursor {...placeOf(index, layout)} cell={layout.cell} />}
        </svg>
        <Option node={nodes[index]} position={index + 1} count={nodes.length} />
      </div>
      <div class="map-detail">
        {index === -1 || nodes[index] === undefined ? <Worst nodes={nodes} /> : <NodeCard node={nodes[index]} />}
      </div>
    </div>
  );
}

/** The cell that a reader of the screen hears. A listbox needs one option at least. */
function Option(props: {
  readonly node: NodeCell | undefined;
  readonly position: number;
  readonly count: number;
}): JSX.Element {
  const { node, position, count } = props;
  return (
    <span
      id="map-cell"
      role="option"
      class="unseen"
      aria-selected={node !== undefined}
      aria-posinset={Math.max(1, position)}
      aria-setsize={count}
    >
      {node === undefined
        ? "No node chosen"
        : `${node.name}, ${stateWords[node.state]}: ${(node.why ?? []).join("; ")}`}
    </span>
  );
}

function Cursor({ x, y, cell }: { readonly x: number; readonly y: number; readonly cell: number }): JSX.Element {
  return <rect class="map-cursor" x={x + 0.5} y={y + 0.5} width={cell - 1} height={cell - 1} rx="2" />;
}

const listedMax = 8;

function Worst({ nodes }: { readonly nodes: readonly NodeCell[] }): JSX.Element {
  const bad = [...nodes.filter(({ state }) => state === "failed"), ...nodes.filter(({ state }) => state === "warning")];
  if (bad.length === 0) return <p class="quiet">Point at a cell, or move with the arrow keys.</p>;
  return (
    <ul class="worst">
      {bad.slice(0, listedMax).map(({ name, why = [] }) => (
        <li>
          <a href={linkTo("find", "node", name)}>{name}</a> <span class="quiet">{why[0] ?? ""}</span>
        </li>
      ))}
      {bad.length > listedMax ? <li class="quiet">and {bad.length - listedMax} more: press a state above</li> : null}
    </ul>
  );
}

interface Moves {
  readonly index: number;
  readonly layout: MapLayout;
  readonly count: number;
  readonly name: string | undefined;
  readonly choose: (index: number) => void;
}

function onKey(event: KeyboardEvent, { index, layout, count, choose, name }: Moves): void {
  if (event.key === "Enter" && name !== undefined) location.hash = linkTo("find", "node", name);
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: layout.columns,
    ArrowUp: -layout.columns,
    Home: -index,
    End: count - 1 - index,
  };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  choose(index === -1 ? 0 : Math.max(0, Math.min(count - 1, index + step)));
}

function indexOf(event: MouseEvent, layout: MapLayout, count: number): number | undefined {
  const box = event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : undefined;
  if (box === undefined) return undefined;
  return indexAt(event.clientX - box.left, event.clientY - box.top, layout, count);
}

/** How much room the map has: its own width, and half of the window's height at least. */
function useRoom(frame: { readonly current: HTMLElement | null }): { readonly width: number; readonly height: number } {
  const room = useSignal({ width: Math.min(innerWidth - 48, 1_200), height: innerHeight * 0.6 });
  useEffect(() => {
    const watch = new ResizeObserver(() => {
      const width = frame.current?.clientWidth ?? 0;
      if (width > 0) room.value = { width, height: Math.max(240, innerHeight * 0.6) };
    });
    if (frame.current !== null) watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  return room.value;
}
