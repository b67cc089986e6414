import type { Broken } from "./invariants.ts";
import type { StoryKind } from "./story-kind.ts";

/** A story takes some tenths of a second. */
const triesMax = 300;

/** Somebody waits for the shortest story. */
export interface ShrinkWatch {
  /** Asked before each try: whether the shortest story so far is enough. */
  readonly isInterrupted?: (() => boolean) | undefined;
  readonly onTry?: ((tries: number, size: number) => void) | undefined;
}

/** The shortest story found that breaks the same rule. It leaves out parts of its lists as long as the rule stays broken. */
export async function shortestStory<S extends object>(
  kind: StoryKind<S>,
  story: S,
  { rule }: Broken,
  { isInterrupted, onTry }: ShrinkWatch = {},
): Promise<S> {
  const tries = { left: triesMax };
  const stillBreaks = async (shorter: S): Promise<boolean> => {
    if (isInterrupted?.() === true) {
      tries.left = 0;
      return false;
    }
    tries.left -= 1;
    onTry?.(triesMax - tries.left, sizeOf(kind, shorter));
    const { broken } = await kind.run(shorter);
    return broken.some((one) => one.rule === rule);
  };
  let shortest = story;
  for (;;) {
    const before = sizeOf(kind, shortest);
    // The last list first: most faults have nothing to do with it.
    for (const list of kind.lists.toReversed()) {
      const items = shortest[list] as readonly unknown[];
      const kept = await without(items, tries, (fewer) => stillBreaks({ ...shortest, [list]: fewer }));
      shortest = { ...shortest, [list]: kept };
    }
    if (sizeOf(kind, shortest) === before || tries.left <= 0) return shortest;
  }
}

function sizeOf<S extends object>({ lists }: StoryKind<S>, story: S): number {
  return lists.reduce((sum, list) => sum + (story[list] as readonly unknown[]).length, 0);
}

/** Leaves out halves, then quarters, down to single items, as long as `breaks` says so. */
async function without<T>(
  items: readonly T[],
  tries: { readonly left: number },
  breaks: (kept: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = items;
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length && tries.left > 0;) {
      const fewer = kept.toSpliced(from, size);
      if (await breaks(fewer)) kept = fewer;
      else from += size;
    }
  }
  return kept;
}
