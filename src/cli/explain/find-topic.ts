import { changesBetween } from "../../lint/changes-between.ts";
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
