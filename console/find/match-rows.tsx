import type { JSX } from "preact";
import type { PodMatch } from "../../src/wire/console-story.ts";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { PodLink } from "../parts/pod-link.tsx";
import { Sign, signOf } from "../parts/sign.tsx";

export function MatchRows(props: {
  readonly title: string;
  readonly pods: readonly PodMatch[];
  readonly none: string;
}): JSX.Element {
  const { title, pods, none } = props;
  return (
    <List
      title={title}
      heads={["pod", "state", "node"]}
      none={none}
      rows={pods.map(({ namespace, pod, node, state }) => (
        <tr key={`${namespace}/${pod}`}>
          <td>
            <PodLink namespace={namespace} pod={pod} />
          </td>
          <td>
            <Sign state={signOf(state)} label={state} />
          </td>
          <td>
            <Name text={node} />
          </td>
        </tr>
      ))}
    />
  );
}
