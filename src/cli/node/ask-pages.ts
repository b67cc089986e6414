import { askDaemon, type Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import type { AttachmentsAnswer, GcAnswer, LeaksAnswer, Question } from "../../wire/node-view.ts";

/** A round of garbage collection may end between two pages; another one takes minutes. */
const triesMax = 3;

export async function askAttachments(context: Context): Promise<AttachmentsAnswer> {
  const first = await askDaemon(context, { ask: "attachments", after: "" });
  const attachments = [...first.attachments];
  for await (const page of pagesAfter(first, (after) => askDaemon(context, { ask: "attachments", after })))
    attachments.push(...page.attachments);
  // Pages come in no order that means anything to a person.
  return { attachments: attachments.toSorted((left, right) => left.sinceWallMs - right.sinceWallMs) };
}

export async function askLeaks(
  context: Context,
  order: Pick<Extract<Question, { readonly ask: "leaks" }>, "retry" | "forget"> = {},
): Promise<LeaksAnswer> {
  const first = await askDaemon(context, { ask: "leaks", ...order, after: "" });
  const leaks = [...first.leaks];
  for await (const page of pagesAfter(first, (after) => askDaemon(context, { ask: "leaks", after })))
    leaks.push(...page.leaks);
  return { ...first, leaks: leaks.toSorted((left, right) => left.sinceWallMs - right.sinceWallMs) };
}

/** All findings of the last round. */
export async function askFindings(context: Context): Promise<GcAnswer> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = await askDaemon(context, { ask: "gc", after: "" });
    const pages: GcAnswer[] = [first];
    for await (const page of pagesAfter(first, (after) => askDaemon(context, { ask: "gc", after }))) pages.push(page);
    if (pages.every(({ finished }) => finished === first.finished))
      return { ...first, findings: pages.flatMap(({ findings }) => findings) };
  }
  throw new CommandFailure("try-later", "Cannot read the findings: new rounds of garbage collection ended meanwhile", {
    remedy: "repeat the command",
  });
}

async function* pagesAfter<Page extends { readonly next?: string }>(
  first: Page,
  ask: (after: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let { next } = first;
  while (next !== undefined) {
    const page = await ask(next);
    yield page;
    if (page.next !== undefined && page.next <= next)
      throw new CommandFailure("protocol-violated", "Cannot read the daemon's answer: its pages do not end");
    ({ next } = page);
  }
}
