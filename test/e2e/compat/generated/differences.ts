import type { Deed, PluginRun } from "./deed.ts";

/** A place where two deeds are not the same. */
export interface Difference {
  readonly at: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** Everything in which ours differs from theirs. After different outcomes only what is left is compared. */
export function differences(theirs: Deed, ours: Deed): readonly Difference[] {
  const found =
    theirs.isServed === ours.isServed ? work(theirs, ours) : [at("outcome", outcome(theirs), outcome(ours))];
  return [...found, at("left", theirs.left, ours.left)].filter(({ theirs: a, ours: b }) => !Bun.deepEquals(a, b));
}

function work(theirs: Deed, ours: Deed): readonly Difference[] {
  return [
    ...(theirs.isServed ? [at("result", theirs.answer, ours.answer)] : []),
    at("status", theirs.status, ours.status),
    ...ofRuns("ADD", theirs.added, ours.added),
    at("DEL answer", theirs.isDeleted, ours.isDeleted),
    ...ofRuns("DEL", theirs.deleted, ours.deleted),
  ];
}

function outcome({ isServed, answer }: Deed): string {
  return isServed ? "served" : `refused: ${answer}`;
}

function ofRuns(verb: string, theirs: readonly PluginRun[], ours: readonly PluginRun[]): readonly Difference[] {
  const order = at(
    `${verb} runs`,
    theirs.map(({ what }) => what),
    ours.map(({ what }) => what),
  );
  if (!Bun.deepEquals(order.theirs, order.ours)) return [order];
  return theirs.flatMap((run, index) => ofRun(`${verb} ${run.what}`, run, ours[index] ?? run));
}

function ofRun(where: string, theirs: PluginRun, ours: PluginRun): readonly Difference[] {
  const names = (run: PluginRun): readonly string[] => Object.keys(run.env).filter((name) => !name.startsWith("CNI_"));
  const variables = [...new Set([...Object.keys(theirs.env), ...Object.keys(ours.env)])].filter((name) =>
    name.startsWith("CNI_"),
  );
  return [
    at(`${where} environment`, names(theirs), names(ours)),
    ...variables.map((name) => at(`${where} ${name}`, theirs.env[name], ours.env[name])),
    ...ofValues(`${where} stdin`, parsed(theirs.stdin), parsed(ours.stdin)),
  ];
}

/** Values whose members are judged together: letters of keys, and members that are empty. */
const wholes = / stdin\.(prevResult|runtimeConfig\.bandwidth)$/u;

/** The members in which two values differ, by their paths. */
function ofValues(where: string, theirs: unknown, ours: unknown): readonly Difference[] {
  if (Bun.deepEquals(theirs, ours)) return [];
  if (!isObject(theirs) || !isObject(ours) || wholes.test(where)) return [at(where, theirs, ours)];
  const keys = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])];
  return keys.flatMap((key) => ofValues(`${where}.${key}`, theirs[key], ours[key]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(where: string, theirs: unknown, ours: unknown): Difference {
  return { at: where, theirs, ours };
}
