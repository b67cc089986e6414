import { useSignal, type Signal } from "@preact/signals";
import type { JSX } from "preact";
import type { DecisionCard, VerdictAnswer, VerdictRequestBody } from "../../src/wire/console-decision.ts";
import type { ConsoleProblem, ConsoleViewer } from "../../src/wire/console-view.ts";
import { Command } from "../parts/command.tsx";
import { Name } from "../parts/name.tsx";
import { problemFrom } from "../stream/server.ts";
import { server } from "../stream/store.ts";

type VerdictWord = DecisionCard["verdicts"][number];

const labels: Readonly<Record<VerdictWord, string>> = {
  approve: "Approve",
  reject: "Reject",
  pause: "Pause",
  resume: "Resume",
};

/** What the viewer is about to say, for the plan that was on the screen when the form was opened. */
interface Draft {
  readonly verdict: VerdictWord;
  readonly planHash: string;
}

type Outcome = { readonly answer: VerdictAnswer } | { readonly problem: ConsoleProblem } | undefined;

/** Approve, reject, pause, resume: with the name typed, as on the command line. The API server has the last word. */
export function VerdictForm({
  card,
  viewer,
}: {
  readonly card: DecisionCard;
  readonly viewer: ConsoleViewer;
}): JSX.Element {
  const draft = useSignal<Draft | undefined>(undefined);
  const outcome = useSignal<Outcome>(undefined);
  return (
    <div class="verdict-form">
      {card.verdicts.length === 0 || viewer.mayDecide !== "no" ? null : <p class="quiet">{viewer.why}</p>}
      <div class="buttons">
        {card.verdicts.map((verdict) => (
          <button
            type="button"
            class={verdict === "approve" || verdict === "resume" ? "main" : "plain"}
            aria-expanded={draft.value?.verdict === verdict}
            onClick={() => {
              outcome.value = undefined;
              draft.value = draft.value?.verdict === verdict ? undefined : { verdict, planHash: card.planHash };
            }}
          >
            {labels[verdict]}…
          </button>
        ))}
      </div>
      {draft.value === undefined ? null : (
        <Typing
          key={draft.value.verdict}
          card={card}
          draft={draft.value}
          onEnd={(ended) => end(draft, outcome, ended)}
        />
      )}
      <Said outcome={outcome.value} />
    </div>
  );
}

function end(draft: Signal<Draft | undefined>, outcome: Signal<Outcome>, ended: Outcome): void {
  outcome.value = ended;
  if (ended === undefined || "answer" in ended) draft.value = undefined;
}

interface TypingProps {
  readonly card: DecisionCard;
  readonly draft: Draft;
  readonly onEnd: (outcome: Outcome) => void;
}

function Typing({ card, draft: { verdict, planHash }, onEnd }: TypingProps): JSX.Element {
  const typed = useSignal("");
  const reason = useSignal("");
  const isBusy = useSignal(false);
  if (card.planHash !== planHash)
    return (
      <div role="alert">
        <p>The plan has changed since you opened this. Read the card again before you {verdict} it.</p>
        <button type="button" class="plain" onClick={() => onEnd(undefined)}>
          I see
        </button>
      </div>
    );
  const send = async (): Promise<void> => {
    isBusy.value = true;
    onEnd(await say(card.name, verdict, { typedName: typed.value, planHash, ...reasonOf(reason.value) }));
    isBusy.value = false;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        <span>
          Type <b>{card.name}</b> to {verdict} it
        </span>
        <input
          name="name"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          required
        />
      </label>
      <label>
        <span>Reason, for those who read this later</span>
        <input
          name="reason"
          value={reason.value}
          onInput={(event) => (reason.value = event.currentTarget.value)}
          maxLength={500}
        />
      </label>
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy.value || typed.value !== card.name}>
          {labels[verdict]} this plan
        </button>
        <button type="button" class="plain" onClick={() => onEnd(undefined)}>
          Cancel
        </button>
      </div>
      <p class="quiet">The same on the command line:</p>
      <Command line={`levee decisions ${verdict} ${card.name} --plan-hash ${planHash}`} />
    </form>
  );
}

function reasonOf(reason: string): { readonly reason?: string } {
  return reason.trim() === "" ? {} : { reason: reason.trim() };
}

async function say(name: string, verdict: VerdictWord, body: VerdictRequestBody): Promise<Outcome> {
  try {
    return { answer: await server.post<VerdictAnswer>(`decision/${encodeURIComponent(name)}/${verdict}`, body) };
  } catch (thrown) {
    return { problem: problemFrom(thrown) };
  }
}

function Said({ outcome }: { readonly outcome: Outcome }): JSX.Element | null {
  if (outcome === undefined) return null;
  if ("answer" in outcome)
    return (
      <p role="status" class="said is-ok">
        {outcome.answer.text}
      </p>
    );
  return (
    <div role="alert" class="said is-failed">
      <p>
        <b>Refused:</b> <Name text={outcome.problem.message} />
      </p>
      {outcome.problem.remedy === "" ? null : <p>{outcome.problem.remedy}</p>}
    </div>
  );
}
