import type { Topic } from "./topics.ts";

/** The most names to suggest for an unknown one. */
const nearestMax = 5;
/** With more changes than this it is a different word. */
const changesMax = 4;

/** Finds a topic by name; upper and lower case are the same. */
export function findTopic(topics: readonly Topic[], name: string): Topic | undefined {
  return topics.find((topic) => topic.name.toLowerCase() === name.toLowerCase());
}

/** Names that the person may have meant, nearest first. */
export function nearestNames(topics: readonly Topic[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return topics
    .map((topic) => ({ name: topic.name, far: distance(wanted, topic.name.toLowerCase()) }))
    .filter((one) => one.far <= Math.min(changesMax, Math.ceil(wanted.length / 2)))
    .toSorted((left, right) => left.far - right.far)
    .slice(0, nearestMax)
    .map((one) => one.name);
}

/** 0 if `right` contains `left`; else the edit distance. */
function distance(left: string, right: string): number {
  return left.length >= 3 && right.includes(left) ? 0 : changesBetween(left, right);
}

function changesBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (let to = 1; to <= right.length; to += 1) {
      const change = (row[to - 1] ?? 0) + (letter === right[to - 1] ? 0 : 1);
      next.push(Math.min(change, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
