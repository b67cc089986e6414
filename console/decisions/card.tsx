import type { JSX } from "preact";
import type { CardEntry, CardEvidence, CardWord, DecisionCard } from "../../src/wire/console-decision.ts";
import type { ConsoleViewer } from "../../src/wire/console-view.ts";
import { clockText, countText, dayText, spanText } from "../base/words.ts";
import { Command } from "../parts/command.tsx";
import { Code, Figure } from "../parts/explain.tsx";
import { Name } from "../parts/name.tsx";
import { Sign } from "../parts/sign.tsx";
import { serverNowMs } from "../stream/store.ts";
import { Chain } from "./chain.tsx";
import { Steps } from "./steps.tsx";
import { VerdictForm } from "./verdict-form.tsx";

/** A Decision from its cause to the buttons. */
export function Card({ card, viewer }: { readonly card: DecisionCard; readonly viewer: ConsoleViewer }): JSX.Element {
  return (
    <article class={`card decision ${card.needsPerson ? "needs-person" : ""}`} aria-label={`Decision ${card.name}`}>
      <header>
        <h2>
          <Name text={card.name} />
        </h2>
        <Sign
          state={card.needsPerson ? "warning" : card.isOpen ? "busy" : "unknown"}
          label={card.needsPerson ? "waits for a person" : card.phase}
        />
      </header>
      <p class="summary">
        <Name text={card.summary} />
      </p>
      {card.message === "" ? null : (
        <p class="quiet">
          <Name text={card.message} />
        </p>
      )}
      <Terms card={card} />
      <VerdictForm card={card} viewer={viewer} />
      <h3>Why</h3>
      <Chain edges={card.chain} />
      <Evidence evidence={card.evidence} name={card.name} />
      <h3>The plan</h3>
      <Steps steps={card.steps} />
      <Notes notes={card.notes} />
      <History card={card} />
    </article>
  );
}

function Terms({ card }: { readonly card: DecisionCard }): JSX.Element {
  const { cause, phase, createdMs, planHash, isIntact, name, command } = card;
  return (
    <>
      <dl class="terms">
        <div>
          <dt>cause</dt>
          <dd>
            <Code code={cause} />
          </dd>
        </div>
        <div>
          <dt>phase</dt>
          <dd>
            <Code code={phase} />
          </dd>
        </div>
        <div>
          <dt>age</dt>
          <dd title={dayText(createdMs)}>{spanText(serverNowMs.value - createdMs)}</dd>
        </div>
        <div>
          <dt>plan hash</dt>
          <dd>
            <Figure of="planHash" subject={name}>
              <code>{planHash.replace("sha256:", "").slice(0, 12)}</code>
            </Figure>
            {isIntact ? null : <Sign state="failed" label="the plan does not match its hash" />}
          </dd>
        </div>
        <div>
          <dt>approved by</dt>
          <dd>
            <Approvers words={card.words} />
          </dd>
        </div>
      </dl>
      <Command line={command} />
    </>
  );
}

function Approvers({ words }: { readonly words: readonly CardWord[] }): JSX.Element {
  const approvals = words.filter(({ verdict, isCurrent }) => verdict === "Approve" && isCurrent);
  if (approvals.length === 0) return <span class="quiet">nobody yet</span>;
  return (
    <>
      {approvals.map(({ by, atMs }) => (
        <span>
          <Name text={by} /> <span class="quiet">{dayText(atMs)}</span>
        </span>
      ))}
    </>
  );
}

function Evidence({
  evidence,
  name,
}: {
  readonly evidence: readonly CardEvidence[];
  readonly name: string;
}): JSX.Element {
  return (
    <dl class="evidence">
      {evidence.map(({ fact, value, atMs, detail }) => (
        <div>
          <dt>
            <Name text={fact} />
          </dt>
          <dd>
            <Figure of="evidence" subject={name}>
              {countText(value)}
            </Figure>
            <span class="quiet">
              {detail === "" ? "" : <Name text={detail} />} at {clockText(atMs)}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Notes({ notes }: { readonly notes: readonly string[] }): JSX.Element | null {
  if (notes.length === 0) return null;
  return (
    <>
      <h3>What can go wrong</h3>
      <ul class="notes">
        {notes.map((note) => (
          <li>
            <Name text={note} />
          </li>
        ))}
      </ul>
    </>
  );
}

function History({ card: { words, audit } }: { readonly card: DecisionCard }): JSX.Element | null {
  const lines: readonly CardEntry[] = [
    ...words.map(({ verdict, by, atMs, reason, isCurrent }) => ({
      atMs,
      who: by,
      what: `${verdict}${isCurrent ? "" : ", of an older plan"}${reason === "" ? "" : `: ${reason}`}`,
    })),
    ...audit,
  ].toSorted((a, b) => a.atMs - b.atMs);
  if (lines.length === 0) return null;
  return (
    <details>
      <summary>What happened so far</summary>
      <ul class="history">
        {lines.map(({ atMs, who, what }) => (
          <li>
            <time>{dayText(atMs)}</time> <Name text={who} />: <Name text={what} />
          </li>
        ))}
      </ul>
    </details>
  );
}
