import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { NodeCell } from "../../src/wire/console-view.ts";
import { countText } from "../base/words.ts";
import { Sign, stateWords, type SignState } from "../parts/sign.tsx";
import { NodeCard } from "./node-card.tsx";
import { NodeMap } from "./node-map.tsx";
import { NodeTable } from "./node-table.tsx";

/** Above this number a card per node no longer fits on a screen, and a map shows more. */
const cardsMax = 36;
const states: readonly SignState[] = ["failed", "warning", "busy", "unknown", "ok"];

/** A cell per node: cards for a few, a map for thousands, a table of the same for who prefers one. */
export function NodeGrid({ nodes }: { readonly nodes: readonly NodeCell[] }): JSX.Element {
  const wanted = useSignal<SignState | undefined>(undefined);
  const shape = useSignal<"grid" | "table">("grid");
  const shown = wanted.value === undefined ? nodes : nodes.filter(({ state }) => state === wanted.value);
  return (
    <>
      <div class="legend" role="group" aria-label="Show only nodes that are">
        {states.map((state) => (
          <StateFilter
            state={state}
            count={nodes.filter((node) => node.state === state).length}
            isOn={wanted.value === state}
            onPress={() => {
              wanted.value = wanted.value === state ? undefined : state;
            }}
          />
        ))}
        {nodes.length > cardsMax && nodes.some(({ rebootMs }) => rebootMs !== undefined) ? <CornerKey /> : null}
        <button
          type="button"
          class="plain end"
          aria-pressed={shape.value === "table"}
          onClick={() => {
            shape.value = shape.value === "table" ? "grid" : "table";
          }}
        >
          As a table
        </button>
      </div>
      {shape.value === "table" ? <NodeTable nodes={shown} /> : <Cells nodes={shown} isMany={nodes.length > cardsMax} />}
    </>
  );
}

function CornerKey(): JSX.Element {
  return (
    <span class="corner-key quiet">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M16 0v12L4 0z" />
      </svg>
      reboot due
    </span>
  );
}

function Cells({ nodes, isMany }: { readonly nodes: readonly NodeCell[]; readonly isMany: boolean }): JSX.Element {
  if (isMany) return <NodeMap nodes={nodes} />;
  return (
    <ul class="node-cards">
      {nodes.map((node) => (
        <li key={node.name}>
          <NodeCard node={node} />
        </li>
      ))}
    </ul>
  );
}

interface StateFilterProps {
  readonly state: SignState;
  readonly count: number;
  readonly isOn: boolean;
  readonly onPress: () => void;
}

function StateFilter({ state, count, isOn, onPress }: StateFilterProps): JSX.Element {
  return (
    <button type="button" class="plain filter" aria-pressed={isOn} disabled={count === 0 && !isOn} onClick={onPress}>
      <Sign state={state} label={`${countText(count)} ${stateWords[state]}`} />
    </button>
  );
}
