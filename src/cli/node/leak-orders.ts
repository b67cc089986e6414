import type { LeaksAnswer, LeakView } from "../../wire/node-view.ts";
import type { Context } from "../context.ts";
import { askLeaks } from "./ask-pages.ts";
import { CommandFailure, usageFailure } from "../failure.ts";

const pollMs = 200;
/** The daemon runs one plugin per leak, one after the other; a person does not wait longer than this. */
const retryMsMax = 60_000;

/** Removes one leak from the ledger without an undo. `isSure` means that the person has confirmed it. */
export async function forgetLeak(context: Context, id: string, isSure: boolean): Promise<LeakView> {
  const { leaks } = await askLeaks(context);
  const leak = oneOf(
    leaks.filter((entry) => entry.id.startsWith(id)),
    id,
  );
  if (!isSure)
    throw usageFailure(
      `Cannot forget ${leak.id} without --yes: ${leak.network === "" ? "its leftovers" : `${leak.network} (${leak.ifname})`} of ${podOf(leak)} would stay on the node, because the daemon would never retry the undo`,
      `levee leaks --forget ${leak.id} --yes, once you have removed it by hand`,
    );
  await askLeaks(context, { forget: leak.id });
  return leak;
}

/** Makes the resident hand retry every leak now, and waits until each was tried once. */
export async function retryLeaks(context: Context): Promise<LeaksAnswer> {
  const { clock, interrupted } = context.shell;
  const before = await askLeaks(context);
  let now = await askLeaks(context, { retry: true });
  const endsMs = clock.monotonicMs() + retryMsMax;
  while (untried(before, now).length > 0 && clock.monotonicMs() < endsMs) {
    await clock.sleep(pollMs, interrupted);
    now = await askLeaks(context);
  }
  return now;
}

/** An entry without a network stands for a lost record, so no plugin can run for it. */
function untried(before: LeaksAnswer, now: LeaksAnswer): readonly LeakView[] {
  const attempts = new Map(before.leaks.map((leak) => [leak.id, leak.attempts]));
  return now.leaks.filter(({ id, network, attempts: made }) => network !== "" && made === attempts.get(id));
}

function oneOf(found: readonly LeakView[], id: string): LeakView {
  const [only, ...more] = found;
  if (only !== undefined && more.length === 0) return only;
  throw new CommandFailure(
    "leak-unknown",
    only === undefined
      ? `There is no leak with the ID ${id}`
      : `${found.length} leaks have an ID that starts with ${id}`,
    { remedy: "levee leaks -o wide shows the IDs" },
  );
}

function podOf({ namespace, pod, containerId }: LeakView): string {
  return pod === "" ? `container ${containerId.slice(0, 13)}` : `${namespace}/${pod}`;
}
