import { stat } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";

export interface ReadinessWait {
  /** The path in the daemon's own mount namespace; empty when the default network has no such file. */
  readonly path: string;
  /** When to give up, on the monotonic clock. The file is looked for at least once. */
  readonly endsMs: number;
  /** Its signal ends the wait. */
  readonly caller: { readonly signal: AbortSignal };
}

/** Multus' own interval. Network agents take seconds to start. */
const lookAgainMs = 1_000;

/**
 * Waits for the file that shows that the default network is ready (`readinessindicatorfile`). Only ADD waits: STATUS
 * would take the node out of service, and a DEL works without the network's agent.
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

/** Why the file does not count as present; undefined when it is present. */
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
