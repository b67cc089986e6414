import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { CardEdge } from "../../src/wire/console-decision.ts";
import { Name } from "../parts/name.tsx";
import {
  alertsText,
  boxWidth,
  chainDrawing,
  chainTrees,
  lineHeight,
  type ChainBox,
  type ChainNode,
} from "./chain-layout.ts";

/** Cause and effects: a drawing where there is room, the same in words beside it. */
export function Chain({ edges }: { readonly edges: readonly CardEdge[] }): JSX.Element | null {
  const trees = useMemo(() => chainTrees(edges), [edges]);
  const isWide = useIsWide();
  if (trees.length === 0) return null;
  if (!isWide) return <ChainWords trees={trees} />;
  return (
    <>
      <ChainPicture trees={trees} />
      <details>
        <summary>The same in words</summary>
        <ChainWords trees={trees} />
      </details>
    </>
  );
}

function ChainPicture({ trees }: { readonly trees: readonly ChainNode[] }): JSX.Element {
  const { boxes, arrows, width, height } = useMemo(() => chainDrawing(trees), [trees]);
  return (
    <div class="wide chain" tabIndex={0} role="group" aria-label="Drawing of the causes">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        style={{ width: `${width / 16}rem` }}
        role="img"
        aria-label="Symptoms on the left, the root cause on the right; the words below say the same"
      >
        {arrows.map(({ from, to, why }) => (
          <g class="chain-arrow">
            <title>{why}</title>
            <path d={arrowPath(from, to)} />
            <path class="chain-tip" d={`M${to.x - 1} ${middle(to)}l-8-4.5v9z`} />
          </g>
        ))}
        {boxes.map((box) => (
          <g class={`chain-box is-${box.kind}`} transform={`translate(${box.x} ${box.y})`}>
            <title>{box.text}</title>
            <rect width={boxWidth} height={box.height} rx="8" />
            {box.lines.map((line, index) => (
              <text x="12" y={10 + (index + 0.76) * lineHeight}>
                {line}
              </text>
            ))}
          </g>
        ))}
      </svg>
    </div>
  );
}

function middle(box: ChainBox): number {
  return box.y + box.height / 2;
}

function arrowPath(from: ChainBox, to: ChainBox): string {
  const [x1, y1, x2, y2] = [from.x + boxWidth, middle(from), to.x - 8, middle(to)];
  const bend = x1 + Math.min(34, (x2 - x1) / 2);
  return `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`;
}

function ChainWords({ trees }: { readonly trees: readonly ChainNode[] }): JSX.Element {
  return (
    <ul class="chain-words">
      {trees.map((tree) => (
        <ChainWord node={tree} isRoot />
      ))}
    </ul>
  );
}

function ChainWord({ node, isRoot = false }: { readonly node: ChainNode; readonly isRoot?: boolean }): JSX.Element {
  return (
    <li class={isRoot ? "is-root" : ""}>
      {isRoot ? <b>Root: </b> : null}
      <Name text={node.text} />
      {node.why === "" ? null : <span class="quiet"> because {lowerFirst(node.why)}</span>}
      {node.effects.length + node.alerts.length === 0 ? null : (
        <ul>
          {node.effects.map((effect) => (
            <ChainWord node={effect} />
          ))}
          {node.alerts.length === 0 ? null : (
            <li>
              <Name text={alertsText(node.alerts)} />
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function useIsWide(): boolean {
  const isWide = useSignal(true);
  useEffect(() => {
    const query = matchMedia("(min-width: 52rem)");
    const read = (): void => {
      isWide.value = query.matches;
    };
    read();
    query.addEventListener("change", read);
    return () => query.removeEventListener("change", read);
  }, []);
  return isWide.value;
}
