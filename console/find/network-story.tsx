import type { JSX } from "preact";
import type { ConsoleNetworkStory } from "../../src/wire/console-story.ts";
import { countText } from "../base/words.ts";
import { Bar } from "../parts/bar.tsx";
import { Command } from "../parts/command.tsx";
import { Figure } from "../parts/explain.tsx";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";
import { MatchRows } from "./match-rows.tsx";
import { StateRows } from "./state-rows.tsx";

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
      <StateRows
        kind="node"
        title="Nodes that cannot serve it, or may not"
        none="Every node that has answered can serve it."
        rows={nodes.map(({ node, state, why }) => ({ name: node, state, why }))}
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
          <Figure of="addresses">{addresses === undefined ? "not known" : roomText(addresses)}</Figure>
          {addresses === undefined ? null : <Bar used={addresses.used} of={addresses.total} />}
          {addressesWhy === "" ? null : (
            <span class="quiet">
              <Name text={addressesWhy} />
            </span>
          )}
        </dd>
      </div>
    </dl>
  );
}

/** Nobody reads the size of an IPv6 network. */
function roomText({ total, used }: { readonly total: number; readonly used: number }): string {
  return total > 1e9 ? "more than a billion" : `${countText(total - used)} of ${countText(total)}`;
}
