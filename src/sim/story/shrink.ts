import type { Broken } from "./invariants.ts";
import { runStory } from "./run-story.ts";
import type { Story } from "./story.ts";

/** A story takes about a tenth of a second. */
const triesMax = 300;

/** The shortest story found that breaks the same rule. It leaves out pods and faults as long as the rule stays broken. */
export async function shrinkStory(story: Story, { rule }: Broken): Promise<Story> {
  const tries = { left: triesMax };
  const stillBreaks = async (shorter: Story): Promise<boolean> => {
    tries.left -= 1;
    const { broken } = await runStory(shorter);
    return broken.some((one) => one.rule === rule);
  };
  let shortest = story;
  for (;;) {
    const faults = await without(shortest.faults, tries, (kept) => stillBreaks({ ...shortest, faults: kept }));
    shortest = { ...shortest, faults };
    const pods = await without(shortest.pods, tries, (kept) => stillBreaks({ ...shortest, pods: kept }));
    const isDone = pods.length === shortest.pods.length || tries.left <= 0;
    shortest = { ...shortest, pods };
    if (isDone) return shortest;
  }
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
