import { LeveeError } from "../../base/errors.ts";
import type { Question } from "../../wire/node-view.ts";

/** Reads a question of the CLI. It refuses unknown questions and options, as half a question may mean another one. */
export function parseQuestion(text: string): Question {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LeveeError("decode-failed", "Cannot understand the question: it is not JSON", { cause });
  }
  const fields = (value ?? {}) as Fields; // each is checked below
  const question = readers[String(fields["ask"])]?.(fields);
  if (question !== undefined) return question;
  throw new LeveeError(
    "decode-failed",
    `Cannot understand the question: ask must be attachments, timeline (with namespace and name), leaks, node, checks, gc, dry-run or top: current value is ${clip(JSON.stringify(fields["ask"]))}`,
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** The prototype is null, because a question may be called "constructor". */
const readers: Readonly<Record<string, (fields: Fields) => Question | undefined>> = Object.assign(
  Object.create(null) as Record<string, never>,
  {
    "attachments": ({ after }: Fields) => ({ ask: "attachments", ...pageAfter(after) }),
    "node": () => ({ ask: "node" }),
    "checks": () => ({ ask: "checks" }),
    "top": () => ({ ask: "top" }),
    "timeline": readTimeline,
    "leaks": readLeaks,
    "gc": readGc,
    "dry-run": readDryRun,
  } as const,
);

function readTimeline({ namespace, name }: Fields): Question | undefined {
  return typeof namespace === "string" && typeof name === "string" ? { ask: "timeline", namespace, name } : undefined;
}

function readLeaks({ retry, forget, after }: Fields): Question {
  const page = pageAfter(after);
  if (typeof forget === "string") return { ask: "leaks", forget, ...page };
  if (retry === true) return { ask: "leaks", retry, ...page };
  if (retry === undefined && forget === undefined) return { ask: "leaks", ...page };
  throw new LeveeError(
    "decode-failed",
    "Cannot understand the question: for leaks, retry must be true or forget must be the ID of an entry",
  );
}

function readGc({ run, after }: Fields): Question {
  const page = pageAfter(after);
  if (run === undefined) return { ask: "gc", ...page };
  if (run === "look" || run === "fix") return { ask: "gc", run, ...page };
  throw new LeveeError(
    "decode-failed",
    `Cannot understand the question: run must be look or fix: current value is ${clip(JSON.stringify(run))}`,
  );
}

function readDryRun({ run, id }: Fields): Question {
  if (typeof id === "string") return { ask: "dry-run", id };
  const { namespace, name } = (run ?? {}) as Fields; // each is checked below
  if (typeof namespace === "string" && typeof name === "string") return { ask: "dry-run", run: { namespace, name } };
  throw new LeveeError(
    "decode-failed",
    "Cannot understand the question: for dry-run, run must have the namespace and the name of a network, or id must be text",
  );
}

function pageAfter(after: unknown): { readonly after?: string } {
  if (after === undefined) return {};
  if (typeof after === "string") return { after };
  throw new LeveeError(
    "decode-failed",
    `Cannot understand the question: after must be text: current value is ${clip(JSON.stringify(after))}`,
  );
}

/** A question may be as long as a frame; its beginning is enough for an error. */
function clip(text: string | undefined): string {
  return text === undefined || text.length <= 200 ? String(text) : `${text.slice(0, 200)}…`;
}
