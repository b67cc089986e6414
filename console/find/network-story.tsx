import type { JSX } from "preact";
import type { ConsoleNetworkStory } from "../../src/wire/console-story.ts";
import { linkTo } from "../base/route.ts";
import { countText } from "../base/words.ts";
import { Bar } from "../parts/bar.tsx";
import { Command } from "../parts/command.tsx";
import { Figure } from "../parts/explain.tsx";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { Sign, signOf } from "../parts/sign.tsx";
import { MatchRows } from "./match-rows.tsx";

/** A network: which nodes can serve it, which pods use it, addresses left. */
export function NetworkStory({ story }: { readonly story: ConsoleNetworkStory }): JSX.Element {
  const { line, nodes, pods, podsTotal, config, command } = story;
  return (
    <article class="story">
      <h1>
        <Name text={line.name} />
      </h1>
      <p>
        <Sign state={line.state} /> <span class="quiet">{line.plugins.join(" → ")}</span>
      </p>
      {line.why.map((why) => (
        <p>
          <Name text={why} />
        </p>
      ))}
      <Tiles story={story} />
      <Command line={command} />
      <List
        title="Nodes that cannot serve it, or may not"
        heads={["node", "state", "why"]}
        none="Every node that has answered can serve it."
        rows={nodes.map(({ node, state, why }) => (
          <tr>
            <th scope="row">
              <a href={linkTo("find", "node", node)}>
                <Name text={node} />
              </a>
            </th>
            <td>
              <Sign state={signOf(state)} label={state} />
            </td>
            <td class="text">
              <Name text={why} />
            </td>
          </tr>
        ))}
      />
      <MatchRows
        title={`Pods that ask for it, ${countText(podsTotal)} in all`}
        pods={pods}
        none="No pod asks for it."
      />
      {config === "" ? null : (
        <details>
          <summary>Its configuration</summary>
          <pre tabIndex={0}>
            <Name text={config} />
          </pre>
        </details>
      )}
    </article>
  );
}

function Tiles({ story: { line, addresses, addressesWhy } }: { readonly story: ConsoleNetworkStory }): JSX.Element {
  return (
    <dl class="tiles">
      <div>
        <dt>nodes that can serve it</dt>
        <dd>
          <Figure of="networkReady">
            {line.nodes === 0 ? "not known" : `${countText(line.ready)} of ${countText(line.nodes)}`}
          </Figure>
        </dd>
      </div>
      <div>
        <dt>pods, waiting</dt>
        <dd>
          <Figure of="networkPods">
            {countText(line.pods)}, {countText(line.waiting)}
          </Figure>
        </dd>
      </div>
      <div>
        <dt>addresses left</dt>
        <dd>
          <Figure of="addresses">
            {addresses === undefined
              ? "not known"
              : `${countText(addresses.total - addresses.used)} of ${countText(addresses.total)}`}
          </Figure>
          {addresses === undefined ? (
            <span class="quiet">{addressesWhy}</span>
          ) : (
            <Bar used={addresses.used} of={addresses.total} />
          )}
        </dd>
      </div>
    </dl>
  );
}
