import type { JSX } from "preact";
import type { ConsoleSource } from "../../src/wire/console-view.ts";
import { clockText } from "../base/words.ts";
import { Sign, type SignState } from "../parts/sign.tsx";

/** Where the facts come from. All live: one quiet line. */
export function Sources({ sources }: { readonly sources: readonly ConsoleSource[] }): JSX.Element | null {
  if (sources.length === 0) return null;
  const live = sources.filter(({ state }) => state === "live");
  const others = sources.filter(({ state }) => state !== "live");
  return (
    <section class="sources">
      <h2>Where this comes from</h2>
      <ul>
        {others.map(({ name, state, asOfMs, why }) => (
          <li>
            <Sign state={signs[state]} label={`${name}: ${state}`} />
            <span class="quiet">
              {state === "stale" ? `last heard ${clockText(asOfMs)};` : ""} {why}
            </span>
          </li>
        ))}
        {live.length === 0 ? null : (
          <li>
            <Sign state="ok" label={`live: ${live.map(({ name }) => name).join(", ")}`} />
          </li>
        )}
      </ul>
    </section>
  );
}

const signs: Readonly<Record<ConsoleSource["state"], SignState>> = {
  live: "ok",
  starting: "busy",
  stale: "warning",
  refused: "unknown",
  absent: "unknown",
};
