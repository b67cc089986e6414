import type { Cancel } from "../../base/clock.ts";
import type { Shell } from "../shell.ts";

/** Below this nobody wonders what is going on. */
const quietMs = 2000;
const spinMs = 120;
/** A line in a log every ten seconds says "alive" without filling it. */
const lineMs = 10_000;
const spinner = ["-", "\\", "|", "/"] as const;

/** Runs `work`; past two seconds says what is being waited for, on stderr: a spinner for a person, lines for a log. */
export async function withProgress<T>(
  shell: Pick<Shell, "clock" | "stderr">,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  const startMs = shell.clock.monotonicMs();
  let stopShowing: Cancel = () => undefined;
  const cancelStart = shell.clock.after(quietMs, () => {
    stopShowing = shell.stderr.isTerminal ? spin(shell, doing, startMs) : printLines(shell, doing, startMs);
  });
  try {
    return await work();
  } finally {
    cancelStart();
    stopShowing();
  }
}

function spin(shell: Pick<Shell, "clock" | "stderr">, doing: string, startMs: number): Cancel {
  let turn = 0;
  const show = (): void => {
    const seconds = Math.round((shell.clock.monotonicMs() - startMs) / 1000);
    shell.stderr.write(`\r\u001b[K${spinner[turn++ % spinner.length]} ${doing} (${seconds} s)`);
  };
  show();
  const cancel = shell.clock.every(spinMs, show);
  return () => {
    cancel();
    shell.stderr.write("\r\u001b[K");
  };
}

function printLines(shell: Pick<Shell, "clock" | "stderr">, doing: string, startMs: number): Cancel {
  const show = (): void =>
    shell.stderr.write(`${doing} (${Math.round((shell.clock.monotonicMs() - startMs) / 1000)} s)\n`);
  show();
  return shell.clock.every(lineMs, show);
}
