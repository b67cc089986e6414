import type { Cancel } from "../../base/clock.ts";
import type { World } from "../world.ts";

/** Below this nobody wonders what is going on. */
const quietMs = 2000;
const spinMs = 120;
/** A line in a log every ten seconds says "alive" without filling it. */
const lineMs = 10_000;
const spinner = ["-", "\\", "|", "/"] as const;

/** Runs `work`; past two seconds says what is being waited for, on stderr: a spinner for a person, lines for a log. */
export async function withProgress<T>(
  world: Pick<World, "clock" | "stderr">,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  const startMs = world.clock.monotonicMs();
  let stopShowing: Cancel = () => undefined;
  const cancelStart = world.clock.after(quietMs, () => {
    stopShowing = world.stderr.isTerminal ? spin(world, doing, startMs) : printLines(world, doing, startMs);
  });
  try {
    return await work();
  } finally {
    cancelStart();
    stopShowing();
  }
}

function spin(world: Pick<World, "clock" | "stderr">, doing: string, startMs: number): Cancel {
  let turn = 0;
  const show = (): void => {
    const seconds = Math.round((world.clock.monotonicMs() - startMs) / 1000);
    world.stderr.write(`\r\u001b[K${spinner[turn++ % spinner.length]} ${doing} (${seconds} s)`);
  };
  show();
  const cancel = world.clock.every(spinMs, show);
  return () => {
    cancel();
    world.stderr.write("\r\u001b[K");
  };
}

function printLines(world: Pick<World, "clock" | "stderr">, doing: string, startMs: number): Cancel {
  const show = (): void =>
    world.stderr.write(`${doing} (${Math.round((world.clock.monotonicMs() - startMs) / 1000)} s)\n`);
  show();
  return world.clock.every(lineMs, show);
}
