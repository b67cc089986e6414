import type { JSX } from "preact";
import type { ConsoleSnapshot, RebootLine, RebootReason, RebootWord } from "../../src/wire/console-view.ts";
import { linkTo } from "../base/route.ts";
import { clockText, dayText, plural, spanText } from "../base/words.ts";
import { Command } from "../parts/command.tsx";
import { Code, Figure } from "../parts/explain.tsx";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";
import { serverNowMs } from "../stream/store.ts";

/** Nodes that wait for a reboot, what blocks each, and how to clear it. */
export function RebootsView({ reboots }: ConsoleSnapshot): JSX.Element {
  const denied = reboots.filter(({ verdict }) => verdict !== "Allow").length;
  return (
    <>
      <section class="headline">
        <h1>
          {reboots.length === 0
            ? "No node waits for a reboot"
            : `${plural(reboots.length, "node")} waiting for a reboot, ${denied} blocked`}
        </h1>
        <Command line="levee gate list" />
      </section>
      <ul class="reboots">
        {reboots.map((line) => (
          <li key={line.node}>
            <Reboot line={line} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Reboot({ line }: { readonly line: RebootLine }): JSX.Element {
  const { node, sinceMs, verdict, observedMs, reasons, override, exceptions = [] } = line;
  return (
    <article class="card reboot" aria-label={node}>
      <header>
        <h2>
          <a href={linkTo("find", "node", node)}>
            <Name text={node} />
          </a>
        </h2>
        <Sign
          state={verdict === "Allow" ? "ok" : "warning"}
          label={verdict === "Allow" ? "may be rebooted" : "may not be rebooted"}
        />
      </header>
      <p>
        Due for <Figure of="rebootDue">{spanText(serverNowMs.value - sinceMs)}</Figure>{" "}
        <span class="quiet">
          since {dayText(sinceMs)}
          {observedMs === undefined ? "; no gate was found for it" : `; the guard looked at ${clockText(observedMs)}`}
        </span>
      </p>
      {override === undefined ? null : <Word label="allowed by a person" word={override} />}
      {exceptions.map((word) => (
        <Word label="alerts pass by an exception" word={word} />
      ))}
      {reasons.length === 0 ? null : (
        <ul class="blockers">
          {reasons.map((reason) => (
            <Blocker reason={reason} />
          ))}
        </ul>
      )}
    </article>
  );
}

function Word({ label, word }: { readonly label: string; readonly word: RebootWord }): JSX.Element {
  return (
    <p>
      <Sign state="warning" label={label} /> <Name text={word.by} />: <Name text={word.reason} />{" "}
      <span class="quiet">until {dayText(word.untilMs)}</span>
    </p>
  );
}

function Blocker({
  reason: { code, message, sinceMs, object, remedy },
}: {
  readonly reason: RebootReason;
}): JSX.Element {
  return (
    <li>
      <Code code={code} /> <Name text={message} />{" "}
      <span class="quiet">
        {object === "" ? "" : <Name text={object} />}{" "}
        {sinceMs === 0 ? "" : `for ${spanText(serverNowMs.value - sinceMs)}`}
      </span>
      {remedy === "" ? null : (
        <p class="remedy">
          <b>To clear it:</b> <Name text={remedy} />
        </p>
      )}
    </li>
  );
}
