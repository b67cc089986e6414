import type { Cancel } from "../../base/clock.ts";
import type { Shell } from "../shell.ts";

/** A person waits this long without wondering. */
const quietMs = 2000;
const spinMs = 120;
/** Often enough for a log to show progress without filling it. */
const lineMs = 10_000;
const spinner = ["-", "\\", "|", "/"] as const;

/** Runs `work`. After two seconds it shows on stderr what it waits for: a spinner on a terminal, lines in a log. */
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
