/** The API server opens one connection per process that it passes a question on to. */
const lanesUsual = 8;

/** Asks about each name, a few at a time. The answers are in the order of the names. */
export async function inLanes<T>(
  names: readonly string[],
  ask: (name: string) => Promise<T>,
  lanes = lanesUsual,
): Promise<ReadonlyMap<string, T>> {
  const answers = new Map<string, T>();
  const waiting = [...names];
  const lane = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) answers.set(name, await ask(name));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return new Map(names.flatMap((name) => (answers.has(name) ? [[name, answers.get(name) as T] as const] : []))); // it is there
}
