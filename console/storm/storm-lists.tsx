import type { JSX } from "preact";
import type { ClassLine, FailureLine, HeldLine, WaitingPod } from "../../src/wire/console-storm.ts";
import { clockText, countText, plural, spanText, tookText } from "../base/words.ts";
import { Figure } from "../parts/explain.tsx";
import { List } from "../parts/list.tsx";
import { Name } from "../parts/name.tsx";
import { PodLink } from "../parts/pod-link.tsx";
import { serverNowMs } from "../stream/store.ts";

export function Waiting({ waiting }: { readonly waiting: readonly WaitingPod[] }): JSX.Element {
  return (
    <List
      title="Waiting longest"
      heads={["pod", "node", "for"]}
      none="No pod waits for its network."
      rows={waiting.map(({ namespace, pod, node, sinceMs }) => (
        <tr key={`${namespace}/${pod}`}>
          <td>
            <PodLink namespace={namespace} pod={pod} />
          </td>
          <td>
            <Name text={node} />
          </td>
          <td class="number">
            <Figure of="podsWaiting">{spanText(serverNowMs.value - sinceMs)}</Figure>
          </td>
        </tr>
      ))}
    />
  );
}

export function Held({ held }: { readonly held: readonly HeldLine[] }): JSX.Element {
  return (
    <List
      title="Held back"
      heads={["who", "node", "for", "why"]}
      none="Nothing is held back."
      rows={held.map(({ node, kind, name, count, forMs, why }) => (
        <tr>
          <td>
            <Figure of="held">{heldText(kind, count)}</Figure> <Name text={name} />
          </td>
          <td>
            <Name text={node} />
          </td>
          <td class="number">{forMs === 0 ? "–" : spanText(forMs)}</td>
          <td class="text">
            <Name text={why} />
          </td>
        </tr>
      ))}
    />
  );
}

function heldText(kind: HeldLine["kind"], count: number): string {
  switch (kind) {
    case "pods":
      return plural(count, "pod");
    case "network":
      return "network";
    case "hung":
      return "hung plugin";
  }
}

export function Classes({ classes }: { readonly classes: readonly ClassLine[] }): JSX.Element {
  return (
    <List
      title="Classes"
      heads={["class", "in line", "running", "oldest wait"]}
      none="No daemon has answered yet."
      rows={classes.map((line) => (
        <tr key={line.class}>
          <th scope="row">{line.class}</th>
          <td class="number">
            <Figure of="classes">{countText(line.waiting)}</Figure>
          </td>
          <td class="number">
            <Figure of="slots">{line.running === undefined ? "–" : countText(line.running)}</Figure>
          </td>
          <td class="number">
            <Figure of="oldestWait">{line.oldestWaitMs === 0 ? "–" : tookText(line.oldestWaitMs)}</Figure>
          </td>
        </tr>
      ))}
    />
  );
}

export function Failures({ failures }: { readonly failures: readonly FailureLine[] }): JSX.Element {
  return (
    <List
      title="Failed lately"
      heads={["at", "pod", "node", "why"]}
      none="No daemon told of a failure."
      rows={failures.map(({ atMs, node, namespace, pod, verb, why }) => (
        <tr>
          <td class="number">{clockText(atMs)}</td>
          <td>
            {verb} <PodLink namespace={namespace} pod={pod} />
          </td>
          <td>
            <Name text={node} />
          </td>
          <td class="text">
            <Name text={why} />
          </td>
        </tr>
      ))}
    />
  );
}
