import type { Shell } from "../shell.ts";

/** A person waits this long without wondering. */
const quietMs = 2_000;
const redrawMs = 200;
const lineMs = 10_000;

/** What a simulation shows on stderr from the third second on: one line that changes, or lines in a log. */
interface SimProgress {
  /** What it does now. */
  say(doing: string): void;
  /** Asked after everything that happens, as one storm may take long. */
  tick(): void;
  end(): void;
}

export function simProgress({ stderr, clock }: Pick<Shell, "stderr" | "clock">, first: string): SimProgress {
  const everyMs = stderr.isTerminal ? redrawMs : lineMs;
  const startMs = clock.monotonicMs();
  let shownMs = startMs + quietMs - everyMs;
  let known = first;
  const tick = (): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - shownMs < everyMs) return;
    shownMs = nowMs;
    const line = `${known} (${Math.round((nowMs - startMs) / 1_000)} s)`;
    stderr.write(stderr.isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  };
  return {
    say(doing) {
      known = doing;
      tick();
    },
    tick,
    end() {
      if (stderr.isTerminal && clock.monotonicMs() - startMs > quietMs) stderr.write("\r\u001b[K");
    },
  };
}
