import type { JSX } from "preact";
import type { ConsoleNodeStory } from "../../src/wire/console-story.ts";
import { Command } from "../parts/command.tsx";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";
import { StateRows } from "./state-rows.tsx";
import { NodeCard } from "../now/node-card.tsx";

/** What a node's daemon says of itself. */
export function NodeStory({ story }: { readonly story: ConsoleNodeStory }): JSX.Element {
  const { cell, software, checks, networks, notices, command } = story;
  return (
    <article class="story">
      <h1>
        <Name text={cell.name} />
      </h1>
      <p class="quiet">{software === "" ? "Its daemon has not answered." : `levee ${software}`}</p>
      {notices.map((notice) => (
        <p>
          <Name text={notice} />
        </p>
      ))}
      <h2>Now</h2>
      <NodeCard node={cell} />
      <Command line={command} />
      <List
        title="Checks"
        heads={["check", "state", "detail"]}
        none="Its daemon has told of no checks."
        rows={checks.map(({ name, state, detail, hint }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <Sign state={state} />
            </td>
            <td class="text">
              <Name text={detail} />
              {state === "ok" || hint === "" ? null : <p class="remedy">{hint}</p>}
            </td>
          </tr>
        ))}
      />
      <StateRows
        kind="network"
        title="Networks"
        none="Its daemon has told of no networks."
        rows={networks.map(({ network, state, why }) => ({ name: network, state, why }))}
      />
    </article>
  );
}
