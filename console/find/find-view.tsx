import type { JSX } from "preact";
import type {
  ConsoleNetworkStory,
  ConsoleNodeStory,
  ConsolePodStory,
  PodMatches,
} from "../../src/wire/console-story.ts";
import type { ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { route } from "../base/route.ts";
import { plural } from "../base/words.ts";
import { Asked } from "../parts/asked.tsx";
import { MatchRows } from "./match-rows.tsx";
import { NameMatches } from "./name-matches.tsx";
import { NetworkStory } from "./network-story.tsx";
import { NodeStory } from "./node-story.tsx";
import { PodStory } from "./pod-story.tsx";

/** One pod, network or node; or what matches the text of the search box. */
export function FindView(snapshot: ConsoleSnapshot): JSX.Element {
  const [kind = "", first = "", second = ""] = route.value.names;
  switch (kind) {
    case "pod":
      return (
        <Asked<ConsolePodStory>
          key={`${first}/${second}`}
          path={`pod?namespace=${encodeURIComponent(first)}&name=${encodeURIComponent(second)}`}
        >
          {(story) => <PodStory story={story} />}
        </Asked>
      );
    case "network":
      return (
        <Asked<ConsoleNetworkStory> key={first} path={`network?name=${encodeURIComponent(first)}`}>
          {(story) => <NetworkStory story={story} />}
        </Asked>
      );
    case "node":
      return (
        <Asked<ConsoleNodeStory> key={first} path={`node?name=${encodeURIComponent(first)}`}>
          {(story) => <NodeStory story={story} />}
        </Asked>
      );
    default:
      return <Matches text={kind === "match" ? first : ""} snapshot={snapshot} />;
  }
}

function Matches({ text, snapshot }: { readonly text: string; readonly snapshot: ConsoleSnapshot }): JSX.Element {
  if (text === "")
    return (
      <section>
        <h1>Find a pod, a network or a node</h1>
        <p class="quiet">Type a part of its name into the box at the top, then press Enter.</p>
        <NameMatches text="" snapshot={snapshot} />
      </section>
    );
  return (
    <section>
      <h1>
        What matches <bdi>{text}</bdi>
      </h1>
      <NameMatches text={text} snapshot={snapshot} />
      <Asked<PodMatches> key={text} path={`pods?match=${encodeURIComponent(text)}`}>
        {({ pods, more }) => (
          <>
            <MatchRows title="Pods" pods={pods} none="No pod has this in its name." />
            {more === 0 ? null : <p class="quiet">and {plural(more, "more pod")}: type more of the name</p>}
          </>
        )}
      </Asked>
    </section>
  );
}
