import type { JSX } from "preact";
import type { NetworkLine, PluginLine } from "../../src/wire/console-view.ts";
import { linkTo } from "../base/route.ts";
import { countText, tookText } from "../base/words.ts";
import { Bar } from "../parts/bar.tsx";
import { Figure } from "../parts/explain.tsx";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";

/** Networks over all nodes; those with trouble come first. */
export function Networks({ networks }: { readonly networks: readonly NetworkLine[] }): JSX.Element {
  return (
    <List
      title="Networks"
      heads={["network", "state", "nodes that can", "pods", "waiting", "why"]}
      none="The cluster has no networks beside the default one."
      rows={networks.slice(0, shownMax).map(({ name, state, ready, nodes, pods, waiting, why }) => (
        <tr key={name}>
          <th scope="row">
            <a href={linkTo("find", "network", name)}>
              <Name text={name} />
            </a>
          </th>
          <td>
            <Sign state={state} />
          </td>
          <td class="number">
            <Figure of="networkReady">{nodes === 0 ? "–" : `${countText(ready)} of ${countText(nodes)}`}</Figure>
          </td>
          <td class="number">
            <Figure of="networkPods">{countText(pods)}</Figure>
          </td>
          <td class="number">
            <Figure of="networkPods">{countText(waiting)}</Figure>
          </td>
          <td class="text">
            <Name text={why.join("; ")} />
          </td>
        </tr>
      ))}
    />
  );
}

/** The rest is found by the search box. */
const shownMax = 100;

export function Plugins({ plugins }: { readonly plugins: readonly PluginLine[] }): JSX.Element {
  const slowest = Math.max(1, ...plugins.map(({ p99Ms }) => p99Ms));
  return (
    <List
      title="Plugins"
      heads={["plugin", "runs", "failed", "p50", "p99"]}
      none="No daemon has run a plugin yet."
      rows={plugins.map(({ plugin, verb, runs, failed, p50Ms, p99Ms }) => (
        <tr key={`${plugin} ${verb}`}>
          <th scope="row">
            <Name text={plugin} /> <span class="quiet">{verb}</span>
          </th>
          <td class="number">
            <Figure of="runs">{countText(runs)}</Figure>
          </td>
          <td class="number">{failed === 0 ? "0" : <Sign state="warning" label={countText(failed)} />}</td>
          <td class="number">{tookText(p50Ms)}</td>
          <td class="number">
            <Figure of="runs">{tookText(p99Ms)}</Figure>
            <Bar used={p99Ms} of={slowest} />
          </td>
        </tr>
      ))}
    />
  );
}
