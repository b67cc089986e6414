import type { JSX } from "preact";
import type { ConsoleSnapshot } from "../../src/wire/console-view.ts";
import { linkTo } from "../base/route.ts";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";

const shownMax = 20;

/** Networks and nodes whose name has the text in it. */
export function NameMatches({
  text,
  snapshot,
}: {
  readonly text: string;
  readonly snapshot: ConsoleSnapshot;
}): JSX.Element {
  return (
    <>
      <Links kind="network" title="Networks" entries={matching(snapshot.networks, text)} />
      {text === "" ? null : <Links kind="node" title="Nodes" entries={matching(snapshot.nodes, text)} />}
    </>
  );
}

interface Entry {
  readonly name: string;
  readonly state: "ok" | "busy" | "warning" | "failed" | "unknown";
}

function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  return entries.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())).slice(0, shownMax);
}

function Links(props: {
  readonly kind: string;
  readonly title: string;
  readonly entries: readonly Entry[];
}): JSX.Element | null {
  const { kind, title, entries } = props;
  if (entries.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <ul class="links">
        {entries.map(({ name, state }) => (
          <li key={name}>
            <Sign state={state} label="" />
            <a href={linkTo("find", kind, name)}>
              <Name text={name} />
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
