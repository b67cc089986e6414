import type { ConsoleChange, ConsoleDelta, ConsoleSnapshot } from "../../wire/console-view.ts";
import type { StormView } from "../../wire/console-storm.ts";

type Parts = Omit<ConsoleSnapshot, "revision" | "viewer">;
type FoundChange = Omit<ConsoleChange, "revision">;

/** Without any change, "as of" still moves this often: a page must see that its facts are fresh. */
const freshMs = 5_000;

const wholeParts = ["now", "networks", "plugins", "alerts", "reboots"] as const;

/** Finds what changed between two looks. It compares texts: a part that reads the same is the same. */
export class ChangeFinder {
  readonly #whole = new Map<string, string>();
  readonly #nodes = new NamedTexts();
  readonly #decisions = new NamedTexts();
  #parts: Parts;
  #storm: string;
  #lastPointMs: number;
  #toldMs: number;

  constructor(parts: Parts) {
    this.#parts = parts;
    for (const part of wholeParts) this.#whole.set(part, JSON.stringify(parts[part]));
    this.#nodes.next(parts.nodes);
    this.#decisions.next(parts.decisions);
    this.#storm = stormText(parts.storm);
    this.#lastPointMs = parts.storm.points.at(-1)?.atMs ?? 0;
    this.#toldMs = parts.asOfMs;
  }

  /** What was told last, as a whole. */
  get parts(): Parts {
    return this.#parts;
  }

  /** Undefined when nothing changed and the last word is fresh. */
  next(parts: Parts): FoundChange | undefined {
    this.#parts = parts;
    const nodes = this.#nodes.next(parts.nodes);
    const decisions = this.#decisions.next(parts.decisions);
    const storm = this.#nextStorm(parts.storm);
    const found: Partial<FoundChange> = {
      ...this.#nextWhole(parts),
      ...(isEmpty(nodes) ? {} : { nodes }),
      ...(isEmpty(decisions) ? {} : { decisions }),
      ...(storm === undefined ? {} : { storm }),
    };
    const isDue = parts.asOfMs - this.#toldMs >= freshMs;
    if (Object.keys(found).length === 0 && !isDue) return undefined;
    this.#toldMs = parts.asOfMs;
    return { asOfMs: parts.asOfMs, sources: parts.sources, ...found };
  }

  #nextWhole(parts: Parts): Partial<FoundChange> {
    const changed = wholeParts.filter((part) => {
      const text = JSON.stringify(parts[part]);
      const isSame = this.#whole.get(part) === text;
      this.#whole.set(part, text);
      return !isSame;
    });
    return Object.fromEntries(changed.map((part) => [part, parts[part]]));
  }

  #nextStorm(storm: StormView): StormView | undefined {
    const text = stormText(storm);
    const points = storm.points.filter(({ atMs }) => atMs > this.#lastPointMs);
    if (points.length === 0 && text === this.#storm) return undefined;
    this.#storm = text;
    this.#lastPointMs = storm.points.at(-1)?.atMs ?? this.#lastPointMs;
    return { ...storm, points };
  }
}

function stormText({ points: _points, ...rest }: StormView): string {
  return JSON.stringify(rest);
}

function isEmpty({ changed, gone }: ConsoleDelta<unknown>): boolean {
  return changed.length === 0 && gone.length === 0;
}

/** Texts by name, of which the next list tells the difference. */
class NamedTexts {
  #texts = new Map<string, string>();

  next<T extends { readonly name: string }>(items: readonly T[]): ConsoleDelta<T> {
    const now = new Map<string, string>();
    const changed: T[] = [];
    for (const item of items) {
      const text = JSON.stringify(item);
      now.set(item.name, text);
      if (this.#texts.get(item.name) !== text) changed.push(item);
    }
    const gone = [...this.#texts.keys()].filter((name) => !now.has(name));
    this.#texts = now;
    return { changed, gone };
  }
}
