import { LeveeError } from "../../base/errors.ts";
import type { Question } from "../../wire/node-view.ts";

/** Reads what the CLI asks. Unknown questions and unknown wishes are refused: half of one understood is another question. */
export function parseQuestion(text: string): Question {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LeveeError("decode-failed", "Cannot understand the question as it is not JSON", { cause });
  }
  const fields = (value ?? {}) as Fields; // each is checked below
  const question = readers[String(fields["ask"])]?.(fields);
  if (question !== undefined) return question;
  throw new LeveeError(
    "decode-failed",
    `Cannot understand the question: ask must be attachments, timeline (with namespace and name), leaks, node, checks, gc or top: current value is ${clip(JSON.stringify(fields["ask"]))}`,
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** A null prototype: a question may be called "constructor". */
const readers: Readonly<Record<string, (fields: Fields) => Question | undefined>> = Object.assign(
  Object.create(null) as Record<string, never>,
  {
    attachments: () => ({ ask: "attachments" }),
    node: () => ({ ask: "node" }),
    checks: () => ({ ask: "checks" }),
    top: () => ({ ask: "top" }),
    timeline: readTimeline,
    leaks: readLeaks,
    gc: readGc,
  } as const,
);

function readTimeline({ namespace, name }: Fields): Question | undefined {
  return typeof namespace === "string" && typeof name === "string" ? { ask: "timeline", namespace, name } : undefined;
}

function readLeaks({ retry, forget }: Fields): Question {
  if (typeof forget === "string") return { ask: "leaks", forget };
  if (retry === true) return { ask: "leaks", retry };
  if (retry === undefined && forget === undefined) return { ask: "leaks" };
  throw new LeveeError(
    "decode-failed",
    "Cannot understand the question: of leaks, retry must be true or forget the ID of an entry",
  );
}

function readGc({ run }: Fields): Question {
  if (run === undefined) return { ask: "gc" };
  if (run === "look" || run === "fix") return { ask: "gc", run };
  throw new LeveeError(
    "decode-failed",
    `Cannot understand the question: run must be look or fix: current value is ${clip(JSON.stringify(run))}`,
  );
}

/** A question may be as long as a frame; what is wrong with it shows in its beginning. */
function clip(text: string | undefined): string {
  return text === undefined || text.length <= 200 ? String(text) : `${text.slice(0, 200)}…`;
}
