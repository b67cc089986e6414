import type { JSX } from "preact";
import type { ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { linkTo, route, type ViewName } from "../base/route.ts";
import { clockText, countText } from "../base/words.ts";
import { Name } from "../parts/name.tsx";
import { waitingNow } from "../storm/storm-series.ts";
import { asOfMs, isOld, link } from "../stream/store.ts";
import { SearchBox } from "./search-box.tsx";

/** Where the viewer is looking, the views, the search box, and how old everything is. */
export function Head({ snapshot }: { readonly snapshot: ConsoleSnapshot | undefined }): JSX.Element {
  return (
    <header class="head">
      <div class="brand">
        <a href={linkTo("now")} class="wordmark">
          <Wave />
          Levee
        </a>
        {snapshot === undefined ? null : (
          <span class="place quiet">
            <Name text={snapshot.viewer.place} />
            {snapshot.viewer.name === "" ? null : (
              <>
                {" as "}
                <Name text={snapshot.viewer.name} />
              </>
            )}
          </span>
        )}
      </div>
      <nav aria-label="Views">
        <ul>
          {tabs.map(({ view, label, count }) => (
            <Tab view={view} label={label} count={snapshot === undefined ? 0 : count(snapshot)} />
          ))}
        </ul>
      </nav>
      <SearchBox />
      <AsOf />
    </header>
  );
}

interface TabFacts {
  readonly view: ViewName;
  readonly label: string;
  /** What the small number beside the label counts. */
  readonly count: (snapshot: ConsoleSnapshot) => number;
}

const tabs: readonly TabFacts[] = [
  { view: "now", label: "Now", count: () => 0 },
  { view: "storm", label: "Storm", count: waitingNow },
  {
    view: "decisions",
    label: "Decisions",
    count: ({ decisions }) => decisions.filter((card) => card.needsPerson).length,
  },
  { view: "reboots", label: "Reboots", count: ({ reboots }) => reboots.length },
];

function Tab({
  view,
  label,
  count,
}: {
  readonly view: ViewName;
  readonly label: string;
  readonly count: number;
}): JSX.Element {
  return (
    <li>
      <a href={linkTo(view)} aria-current={route.value.view === view ? "page" : undefined}>
        {label}
        {count === 0 ? null : <span class="count">{countText(count)}</span>}
      </a>
    </li>
  );
}

function AsOf(): JSX.Element {
  const isLive = link.value.state === "live";
  return (
    <p class={`as-of ${isOld.value ? "is-old-time" : ""}`}>
      <span class={`pulse ${isLive ? "is-live" : ""}`} aria-hidden="true" />
      {asOfMs.value <= 0 ? "connecting" : `as of ${clockText(asOfMs.value)}`}
      {isOld.value ? ", old" : ""}
    </p>
  );
}

function Wave(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3 21c4.3-3.4 8.7-3.4 13 0s8.7 3.4 13 0" />
      <path d="M3 13c4.3-3.4 8.7-3.4 13 0s8.7 3.4 13 0" class="wave-far" />
    </svg>
  );
}
