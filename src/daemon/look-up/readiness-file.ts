import { stat } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";

export interface ReadinessWait {
  /** As the daemon sees it; empty when the default network has no such file. */
  readonly path: string;
  /** When to give up, on the monotonic clock. At least one look is always taken. */
  readonly endsMs: number;
  /** Ends the wait. */
  readonly caller: { readonly signal: AbortSignal };
}

/** As often as Multus looks; network agents take seconds to come up. */
const lookAgainMs = 1_000;

/**
 * Waits for the file by which the default network says that it is ready (`readinessindicatorfile`). For ADD only:
 * STATUS would take the node out of service, and a DEL works whatever the network's agent does.
 */
export async function awaitReadinessFile({ path, endsMs, caller }: ReadinessWait, clock: Clock): Promise<void> {
  if (path === "") return;
  for (;;) {
    const lack = await lackOf(path);
    if (lack === undefined) return;
    const leftMs = endsMs - clock.monotonicMs();
    // The first words are Multus': people and alerts know them.
    if (leftMs <= 0)
      throw new LeveeError(
        "try-later",
        `have you checked that your default network is ready? still waiting for readinessindicatorfile @ ${path}: ${lack}`,
      );
    await clock.sleep(Math.min(lookAgainMs, leftMs), caller.signal);
  }
}

/** Why the file does not count as being there; undefined when it is. */
async function lackOf(path: string): Promise<string | undefined> {
  try {
    await stat(path);
    return undefined;
  } catch (cause) {
    const errno = errnoOf(cause) ?? "unknown";
    if (errno === "ENOENT" || errno === "ENOTDIR") return `there is no such file (${errno})`;
    return `the daemon cannot look there (${errno}); let it see the file's folder`;
  }
}
