import type { Broken } from "./invariants.ts";

/** A real process dies of an error that nobody handles, so here it is a broken rule. */
export function defectsInto(broken: Broken[]): Disposable {
  const onDefect = (thrown: unknown): void => {
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    broken.push({ rule: "no-defects", text });
  };
  process.on("unhandledRejection", onDefect);
  process.on("uncaughtException", onDefect);
  return {
    [Symbol.dispose]() {
      process.off("unhandledRejection", onDefect);
      process.off("uncaughtException", onDefect);
    },
  };
}
