import type { CardEdge } from "../../src/wire/console-decision.ts";

/** A box of the drawing: something that went wrong, with its text as lines. */
export interface ChainBox {
  readonly text: string;
  readonly lines: readonly string[];
  readonly kind: "root" | "effect" | "alerts";
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface ChainDrawing {
  readonly boxes: readonly ChainBox[];
  /** From the right side of an effect to the left side of its cause. */
  readonly arrows: readonly { readonly from: ChainBox; readonly to: ChainBox; readonly why: string }[];
  readonly width: number;
  readonly height: number;
}

export const boxWidth = 236;
export const lineHeight = 17;
const gapX = 52;
const gapY = 14;
const padding = 20;
const lineChars = 31;
const linesMax = 5;

/** One thing and what follows from it. */
export interface ChainNode {
  readonly text: string;
  readonly why: string;
  readonly rule: string;
  readonly effects: readonly ChainNode[];
  /** Alerts that tell of this thing. */
  readonly alerts: readonly CardEdge[];
}

/** The edges as trees: each effect hangs below the cause that was found first. More than one root is possible. */
export function chainTrees(edges: readonly CardEdge[]): readonly ChainNode[] {
  const effects = new Set(edges.map(({ effect }) => effect));
  const roots = [...new Set(edges.map(({ cause }) => cause))].filter((text) => !effects.has(text));
  const seen = new Set<string>();
  const grow = (text: string, why: string, rule: string): ChainNode => {
    seen.add(text);
    const own = edges.filter((edge) => edge.cause === text && !seen.has(edge.effect));
    const alerts = own.filter(({ effect }) => isAlert(effect));
    // Marked before growing: an effect of two causes hangs below the first, and a cycle ends.
    const things = own.filter(({ effect }) => !isAlert(effect) && !seen.has(effect));
    for (const { effect } of things) seen.add(effect);
    return { text, why, rule, alerts, effects: things.map((edge) => grow(edge.effect, edge.why, edge.rule)) };
  };
  return roots.map((text) => grow(text, "", ""));
}

function isAlert(text: string): boolean {
  return /^(?:alert|\d+ alerts) /u.test(text);
}

/** Symptoms on the left, the root on the right: the arrows say "because of". */
export function chainDrawing(trees: readonly ChainNode[]): ChainDrawing {
  const depthMax = Math.max(0, ...trees.map(depthOf));
  const boxes: ChainBox[] = [];
  const arrows: { from: ChainBox; to: ChainBox; why: string }[] = [];
  let bottom = 2;
  const columnX = (depth: number): number => 2 + (depthMax - depth) * (boxWidth + gapX);
  const leaf = (text: string, kind: ChainBox["kind"], depth: number): ChainBox => {
    const box = boxOf(text, kind, columnX(depth), bottom);
    bottom += box.height + gapY;
    return box;
  };
  const place = (node: ChainNode, depth: number): ChainBox => {
    const children = node.effects.map((effect) => ({ box: place(effect, depth + 1), why: effect.why }));
    if (node.alerts.length > 0)
      children.push({ box: leaf(alertsText(node.alerts), "alerts", depth + 1), why: node.alerts[0]?.why ?? "" });
    const kind = depth === 0 ? "root" : "effect";
    const own =
      children.length === 0 ? leaf(node.text, kind, depth) : beside(node.text, kind, columnX(depth), children);
    // A cause with one short effect may be taller than it.
    bottom = Math.max(bottom, own.y + own.height + gapY);
    if (children.length > 0) boxes.push(...children.map(({ box }) => box));
    arrows.push(...children.map(({ box, why }) => ({ from: box, to: own, why })));
    return own;
  };
  for (const tree of trees) boxes.push(place(tree, 0));
  return { boxes, arrows, width: columnX(0) + boxWidth + 2, height: bottom };
}

function beside(
  text: string,
  kind: ChainBox["kind"],
  x: number,
  children: readonly { readonly box: ChainBox }[],
): ChainBox {
  const top = Math.min(...children.map(({ box }) => box.y));
  const end = Math.max(...children.map(({ box }) => box.y + box.height));
  const box = boxOf(text, kind, x, 0);
  return { ...box, y: Math.max(top, (top + end - box.height) / 2) };
}

function boxOf(text: string, kind: ChainBox["kind"], x: number, y: number): ChainBox {
  const lines = linesOf(text);
  return { text, lines, kind, x, y, height: lines.length * lineHeight + padding };
}

function depthOf(node: ChainNode): number {
  const own = node.alerts.length > 0 ? 1 : 0;
  return Math.max(own, ...node.effects.map((effect) => 1 + depthOf(effect)));
}

/** `12 alerts: TargetDown, ProbeFailed ×9 …` */
export function alertsText(alerts: readonly CardEdge[]): string {
  const parts = alerts.map(({ effect }) => /^(?:(\d+) alerts|alert) (.*)$/u.exec(effect));
  const counts = parts.map((part) => Number(part?.[1] ?? 1));
  const names = parts.map((part, index) => `${part?.[2] ?? ""}${(counts[index] ?? 1) > 1 ? ` ×${counts[index]}` : ""}`);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return `${total === 1 ? "Alert" : `${total} alerts`}: ${names.join(", ")}`;
}

/** Words into lines of a box; a word that is longer than a line is cut. */
export function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap(cutWord)) {
    if (line !== "" && line.length + word.length + 1 > lineChars) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines.length <= linesMax ? lines : [...lines.slice(0, linesMax - 1), `${lines[linesMax - 1] ?? ""} …`];
}

function cutWord(word: string): readonly string[] {
  const letters = [...word];
  return Array.from({ length: Math.max(1, Math.ceil(letters.length / lineChars)) }, (_unused, index) =>
    letters.slice(index * lineChars, (index + 1) * lineChars).join(""),
  );
}
