import type { JSX } from "preact";
import type { ConsoleSnapshot, NowReason } from "../../src/wire/console-view.ts";
import { linkTo, type ViewName } from "../base/route.ts";
import { plural } from "../base/words.ts";
import { Command } from "../parts/command.tsx";
import { Code } from "../parts/explain.tsx";
import { Sign } from "../parts/sign.tsx";
import { NodeGrid } from "./node-grid.tsx";
import { Sources } from "./sources.tsx";

/** One line that says whether anything needs a person, and the cluster as one grid. */
export function NowView({ now, nodes, sources }: ConsoleSnapshot): JSX.Element {
  return (
    <>
      <section class={`verdict is-${now.state}`} aria-live="polite">
        <h1>
          <Sign state={verdictSigns[now.state]} label={verdictWords[now.state]} />
          <span>{now.text}</span>
        </h1>
        {now.reasons.length === 0 ? null : (
          <ul class="reasons">
            {now.reasons.map((reason) => (
              <Reason {...reason} />
            ))}
          </ul>
        )}
      </section>
      <section id="nodes">
        <h2>{nodes.length === 0 ? "No node is known yet" : plural(nodes.length, "node")}</h2>
        <NodeGrid nodes={nodes} />
      </section>
      <Sources sources={sources} />
    </>
  );
}

const verdictSigns = { well: "ok", watch: "warning", act: "failed" } as const;
const verdictWords = { well: "All is well", watch: "Worth a look", act: "Needs a person" } as const;

function Reason({ state, text, code, command, part }: NowReason): JSX.Element {
  return (
    <li>
      <Sign state={verdictSigns[state]} label={state === "act" ? "act" : "watch"} />
      <div>
        <a href={linkTo(partViews[part])}>{text}</a> {code === "" ? null : <Code code={code} />}
      </div>
      {command === "" ? null : <Command line={command} />}
    </li>
  );
}

const partViews: Readonly<Record<NowReason["part"], ViewName>> = {
  nodes: "now",
  sources: "now",
  storm: "storm",
  decisions: "decisions",
  reboots: "reboots",
};
