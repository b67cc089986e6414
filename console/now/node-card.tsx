import type { JSX } from "preact";
import type { NodeCell } from "../../src/wire/console-view.ts";
import { linkTo } from "../base/route.ts";
import { bytesText, countText, plural, spanText } from "../base/words.ts";
import { Bar } from "../parts/bar.tsx";
import { Figure } from "../parts/explain.tsx";
import { Sign } from "../parts/sign.tsx";
import { serverNowMs } from "../stream/store.ts";

/** A node with everything that is known of it. */
export function NodeCard({ node }: { readonly node: NodeCell }): JSX.Element {
  const { name, state, why = [], isCordoned } = node;
  return (
    <article class={`card node is-${state}`} aria-label={name}>
      <header>
        <h3>
          <a href={linkTo("find", "node", name)}>{name}</a>
        </h3>
        <Sign state={state} />
      </header>
      {why.length === 0 ? null : <p class="why">{why.slice(0, 3).join("; ")}</p>}
      <NodeFacts node={node} />
      <NodeMarks node={node} />
      {isCordoned === true ? <p class="quiet">Cordoned: no new pods come here</p> : null}
    </article>
  );
}

function NodeFacts({ node }: { readonly node: NodeCell }): JSX.Element {
  const { adds = 0, dels = 0, pods = 0, slots, memory } = node;
  return (
    <dl class="facts">
      <div>
        <dt>waiting</dt>
        <dd>
          <Figure of="podsWaiting">{countText(pods)} pods</Figure>
          <Figure of="adds">{countText(adds)} ADD</Figure>
          <Figure of="dels">{countText(dels)} DEL</Figure>
        </dd>
      </div>
      <Share name="slots" of="slots" share={slots} text={countText} />
      <Share name="memory" of="memory" share={memory} text={bytesText} />
    </dl>
  );
}

interface ShareProps {
  readonly name: string;
  readonly of: "slots" | "memory";
  readonly share: readonly [number, number] | undefined;
  readonly text: (value: number) => string;
}

function Share({ name, of, share, text }: ShareProps): JSX.Element {
  if (share === undefined)
    return (
      <div>
        <dt>{name}</dt>
        <dd class="quiet">not heard</dd>
      </div>
    );
  const [used, whole] = share;
  const isNear = of === "memory" && whole > 0 && used / whole > 0.85;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Figure of={of}>
          {text(used)}
          {whole === 0 ? "" : ` of ${text(whole)}`}
        </Figure>
        {whole === 0 ? null : <Bar used={used} of={whole} state={isNear ? "is-warning" : ""} />}
      </dd>
    </div>
  );
}

function NodeMarks({ node }: { readonly node: NodeCell }): JSX.Element | null {
  const { kills = 0, leaks = 0, rebootMs, gate } = node;
  const marks: JSX.Element[] = [];
  if (kills > 0) marks.push(<Figure of="kills">{plural(kills, "kill")}</Figure>);
  if (leaks > 0) marks.push(<Figure of="leaks">{plural(leaks, "leak")}</Figure>);
  if (rebootMs !== undefined)
    marks.push(<Figure of="rebootDue">reboot due for {spanText(serverNowMs.value - rebootMs)}</Figure>);
  if (gate !== undefined) marks.push(<Figure of="gate">{gate === "Allow" ? "gate open" : "gate closed"}</Figure>);
  return marks.length === 0 ? null : <p class="marks">{marks}</p>;
}
