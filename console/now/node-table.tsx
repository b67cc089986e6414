import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { NodeCell } from "../../src/wire/console-view.ts";
import { linkTo } from "../base/route.ts";
import { bytesText, countText, spanText } from "../base/words.ts";
import { Sign } from "../parts/sign.tsx";
import { serverNowMs } from "../stream/store.ts";

/** A page of the table is drawn in a moment, however many nodes there are. */
const rowsMax = 100;

export function NodeTable({ nodes }: { readonly nodes: readonly NodeCell[] }): JSX.Element {
  const page = useSignal(0);
  const pages = Math.max(1, Math.ceil(nodes.length / rowsMax));
  const first = Math.min(page.value, pages - 1) * rowsMax;
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Table of nodes">
      <table>
        <thead>
          <tr>
            {[
              "node",
              "state",
              "pods waiting",
              "ADD",
              "DEL",
              "slots",
              "memory",
              "kills",
              "leaks",
              "reboot due",
              "gate",
            ].map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.slice(first, first + rowsMax).map((node) => (
            <Row key={node.name} node={node} />
          ))}
        </tbody>
      </table>
      {pages === 1 ? null : (
        <p class="pager">
          <button type="button" class="plain" disabled={first === 0} onClick={() => (page.value -= 1)}>
            Back
          </button>
          {countText(first + 1)} to {countText(Math.min(first + rowsMax, nodes.length))} of {countText(nodes.length)}
          <button
            type="button"
            class="plain"
            disabled={first + rowsMax >= nodes.length}
            onClick={() => (page.value += 1)}
          >
            Next
          </button>
        </p>
      )}
    </div>
  );
}

function Row({ node }: { readonly node: NodeCell }): JSX.Element {
  const { name, state, pods = 0, adds = 0, dels = 0, slots, memory, kills = 0, leaks = 0, rebootMs, gate } = node;
  return (
    <tr>
      <th scope="row">
        <a href={linkTo("find", "node", name)}>{name}</a>
      </th>
      <td>
        <Sign state={state} />
      </td>
      {[pods, adds, dels].map((count) => (
        <td class="number">{countText(count)}</td>
      ))}
      <td class="number">{slots === undefined ? "–" : `${slots[0]}/${slots[1]}`}</td>
      <td class="number">{memoryText(memory)}</td>
      <td class="number">{countText(kills)}</td>
      <td class="number">{countText(leaks)}</td>
      <td>{rebootMs === undefined ? "–" : spanText(serverNowMs.value - rebootMs)}</td>
      <td>{gate ?? "–"}</td>
    </tr>
  );
}

function memoryText(memory: NodeCell["memory"]): string {
  if (memory === undefined) return "–";
  return memory[1] === 0 ? bytesText(memory[0]) : `${bytesText(memory[0])} of ${bytesText(memory[1])}`;
}
