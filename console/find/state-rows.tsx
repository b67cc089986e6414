import type { JSX } from "preact";
import { linkTo } from "../base/route.ts";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { Sign, signOf } from "../parts/sign.tsx";

interface StateRow {
  readonly name: string;
  readonly state: string;
  readonly why: string;
}

/** Nodes of a network, or networks of a node: each with its state and why, and a link to its own story. */
export function StateRows(props: {
  readonly kind: "node" | "network";
  readonly title: string;
  readonly none: string;
  readonly rows: readonly StateRow[];
}): JSX.Element {
  const { kind, title, none, rows } = props;
  return (
    <List
      title={title}
      heads={[kind, "state", "why"]}
      none={none}
      rows={rows.map(({ name, state, why }) => (
        <tr key={name}>
          <th scope="row">
            <a href={linkTo("find", kind, name)}>
              <Name text={name} />
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
  );
}
