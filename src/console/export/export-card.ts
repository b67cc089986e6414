import { escapeHtml, plainText } from "../../base/plain-text.ts";
import type { CardStep, DecisionCard } from "../../wire/console-decision.ts";

/** A Decision for reading: everything that a person needs before he approves it elsewhere. */
export function exportCard(card: DecisionCard): string {
  const { name, phase, cause, summary, message, planHash, isIntact } = card;
  const broken = isIntact
    ? ""
    : "<p><strong>The plan does not match its hash: the guard will not carry it out.</strong></p>";
  return `<article><h3>${text(name)}</h3>
<p><strong>${text(phase)}</strong> · ${text(cause)} · ${text(message)}</p>
<p>${text(summary)}</p>${broken}
${block(
  "What was seen",
  card.evidence.map(({ value, fact, detail }) => `${value} ${fact}${detail === "" ? "" : `: ${detail}`}`),
)}
${block(
  "What follows from it",
  card.chain.map(({ cause: from, effect, why }) => `${from} → ${effect} (${why})`),
)}
<h4>What is proposed</h4><ol>${card.steps.map(stepItem).join("")}</ol>
${block("What can go wrong, and what you still have to do", card.notes)}
${block(
  "What people said",
  card.words.map(({ verdict, by, reason }) => `${verdict} by ${by}${reason === "" ? "" : `: ${reason}`}`),
)}
<p>Plan <code>${text(planHash)}</code></p>
<p>${card.verdicts.map((verdict) => `<code>levee decisions ${verdict} ${text(name)}</code>`).join(" ")}</p></article>`;
}

function stepItem({ action, title, facts, kubectl, check, phase, message }: CardStep): string {
  const lines = kubectl.map((line) => `<code>${text(line)}</code>`).join("<br>");
  const now = phase === "Waiting" ? "" : `<p>${phase}${message === "" ? "" : `: ${text(message)}`}</p>`;
  return `<li><strong>${text(action)}</strong> ${text(title)}${list(facts)}<p>Done when: ${text(check)}</p>${now}<p>${lines}</p></li>`;
}

function block(title: string, items: readonly string[]): string {
  return items.length === 0 ? "" : `<h4>${text(title)}</h4>${list(items)}`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "" : `<ul>${items.map((item) => `<li>${text(item)}</li>`).join("")}</ul>`;
}

function text(value: string): string {
  return escapeHtml(plainText(value));
}
