import type { JSX } from "preact";
import type { ConsolePodStory, StoryEntry, StoryNetwork } from "../../src/wire/console-story.ts";
import { linkTo } from "../base/route.ts";
import { clockText, plural, spanText, tookText } from "../base/words.ts";
import { Command } from "../parts/command.tsx";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { Sign, signOf } from "../parts/sign.tsx";
import { serverNowMs } from "../stream/store.ts";
import { storyLine, type StoryBar } from "./story-bars.ts";

/** `levee why` as a time line. */
export function PodStory({ story }: { readonly story: ConsolePodStory }): JSX.Element {
  const { namespace, pod, node, state, sinceMs, reason, why, entries, omitted, networks, notices, command } = story;
  return (
    <article class="story">
      <h1>
        <span class="quiet">
          <Name text={namespace} />/
        </span>
        <Name text={pod} />
      </h1>
      <p>
        <Sign state={signOf(state)} label={state} />{" "}
        {sinceMs === 0 ? "" : `for ${spanText(serverNowMs.value - sinceMs)}`}
        {node === "" ? null : (
          <>
            {" on "}
            <a href={linkTo("find", "node", node)}>
              <Name text={node} />
            </a>
          </>
        )}
      </p>
      {reason === "" ? null : (
        <p class="summary">
          <Name text={reason} />
        </p>
      )}
      {[...(why === "" ? [] : [why]), ...notices].map((notice) => (
        <p class="quiet">
          <Name text={notice} />
        </p>
      ))}
      <Command line={command} />
      <TimeLine entries={entries} />
      <Entries entries={entries} omitted={omitted} />
      <Networks networks={networks} />
    </article>
  );
}

function TimeLine({ entries }: { readonly entries: readonly StoryEntry[] }): JSX.Element | null {
  const { startMs, endMs, bars } = storyLine(entries);
  if (bars.length === 0) return null;
  return (
    <section>
      <h2>The last try took {tookText(endMs - startMs)}</h2>
      <ol class="time-line" aria-hidden="true">
        {bars.map((bar) => (
          <TimeRow bar={bar} />
        ))}
      </ol>
      <p class="time-axis" aria-hidden="true">
        <span>{clockText(startMs)}</span>
        <span>{clockText(endMs)}</span>
      </p>
    </section>
  );
}

function TimeRow({ bar: { entry, from, to } }: { readonly bar: StoryBar }): JSX.Element {
  const kind = entry.plugin === undefined ? "" : "is-plugin";
  return (
    <li class={`${kind} ${entry.isFailure ? "is-failed" : ""}`} title={entry.text}>
      <span class="time-name">
        {entry.plugin === undefined ? entry.what : <b>{entry.plugin}</b>}{" "}
        {entry.network === undefined ? null : (
          <span class="quiet">
            <Name text={entry.network} />
          </span>
        )}
      </span>
      <svg viewBox="0 0 1000 16" preserveAspectRatio="none">
        <line x1="0" x2="1000" y1="8" y2="8" />
        <rect x={Math.min(996, from * 1_000)} width={Math.max(4, (to - from) * 1_000)} y="2" height="12" rx="2" />
      </svg>
      <span class="time-took">{entry.tookMs === undefined ? "" : tookText(entry.tookMs)}</span>
    </li>
  );
}

function Entries({
  entries,
  omitted,
}: {
  readonly entries: readonly StoryEntry[];
  readonly omitted: number;
}): JSX.Element {
  return (
    <List
      title="What happened"
      heads={["at", "what", "took"]}
      none="Nothing is recorded of this pod."
      {...(omitted === 0 ? {} : { note: `${plural(omitted, "older entry", "older entries")} left out` })}
      rows={entries.map(({ atMs, text, isFailure, tookMs, detail = "" }) => (
        <tr>
          <td class="number">{clockText(atMs)}</td>
          <td class="text">
            {isFailure ? <Sign state="failed" label="failed" /> : null} <Name text={text} />
            {detail === "" ? null : (
              <pre tabIndex={0}>
                <Name text={detail} />
              </pre>
            )}
          </td>
          <td class="number">{tookMs === undefined ? "" : tookText(tookMs)}</td>
        </tr>
      ))}
    />
  );
}

function Networks({ networks }: { readonly networks: readonly StoryNetwork[] }): JSX.Element | null {
  if (networks.length === 0) return null;
  return (
    <List
      title="Its networks"
      heads={["network", "interface", "addresses", "MAC"]}
      none=""
      rows={networks.map(({ network, ifname, ips, mac }) => (
        <tr>
          <th scope="row">
            <a href={linkTo("find", "network", network)}>
              <Name text={network} />
            </a>
          </th>
          <td>
            <Name text={ifname} />
          </td>
          <td>{ips.join(", ")}</td>
          <td>{mac}</td>
        </tr>
      ))}
    />
  );
}
