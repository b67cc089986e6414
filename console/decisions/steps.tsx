import type { JSX } from "preact";
import type { CardStep } from "../../src/wire/console-decision.ts";
import { plural } from "../base/words.ts";
import { Command } from "../parts/command.tsx";
import { Code } from "../parts/explain.tsx";
import { Name } from "../parts/name.tsx";
import { Sign, type SignState } from "../parts/sign.tsx";

/** More lines of one step are behind a fold. */
const linesMax = 2;

export function Steps({ steps }: { readonly steps: readonly CardStep[] }): JSX.Element {
  return (
    <ol class="steps">
      {steps.map((step) => (
        <Step key={step.id} step={step} />
      ))}
    </ol>
  );
}

function Step({ step }: { readonly step: CardStep }): JSX.Element {
  const { action, title, phase, message, kubectl } = step;
  return (
    <li class={`is-${phase.toLowerCase()}`}>
      <header>
        {phase === "Waiting" ? null : <Sign state={signs[phase]} label={phase.toLowerCase()} />}
        <b>
          <Name text={title} />
        </b>
        <Code code={action} />
      </header>
      {message === "" ? null : (
        <p class="quiet">
          <Name text={message} />
        </p>
      )}
      {kubectl.slice(0, linesMax).map((line) => (
        <Command line={line} />
      ))}
      {kubectl.length <= linesMax ? null : (
        <details>
          <summary>{plural(kubectl.length - linesMax, "more line")}</summary>
          {kubectl.slice(linesMax).map((line) => (
            <Command line={line} />
          ))}
        </details>
      )}
      <StepTerms step={step} />
    </li>
  );
}

function StepTerms({ step: { facts, preconditions, check } }: { readonly step: CardStep }): JSX.Element | null {
  if (facts.length + preconditions.length === 0 && check === "") return null;
  return (
    <details>
      <summary>What it needs, and how it is checked</summary>
      <ul>
        {facts.map((fact) => (
          <li>
            <Name text={fact} />
          </li>
        ))}
        {preconditions.map((condition) => (
          <li>
            <span class="quiet">before: </span>
            <Name text={condition} />
          </li>
        ))}
        {check === "" ? null : (
          <li>
            <span class="quiet">after: </span>
            <Name text={check} />
          </li>
        )}
      </ul>
    </details>
  );
}

const signs: Readonly<Record<CardStep["phase"], SignState>> = {
  Waiting: "unknown",
  Running: "busy",
  Done: "ok",
  Skipped: "unknown",
  Failed: "failed",
};
