import type { TopAnswer } from "../../../wire/top-view.ts";
import { isUnreachable } from "../ask.ts";
import { askDaemon, type Context } from "../../context.ts";
import { interruptedFailure, toFailure } from "../../failure.ts";
import { paintFor } from "../../terminal/paint.ts";
import type { Terminal } from "../../shell.ts";
import { topScreen } from "./screen.ts";

const refreshMs = 1_000;
/** Alternate screen, no cursor, no line wrap; and back. */
const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const leave = "\u001b[?7h\u001b[?25h\u001b[?1049l";
/** q, Escape, Ctrl-C or Ctrl-D, also among other keys; but not an arrow key, which begins with Escape. */
const quitKeys = /^\u001b$|^[^\u001b]*[qQ\u0003\u0004]/u;

/** Shows the node until q is pressed. Always restores the terminal. */
export async function runLive(context: Context, terminal: Terminal, first: TopAnswer): Promise<void> {
  const { stdout, interrupted } = context.shell;
  const quit = new AbortController();
  const stop = (): void => quit.abort();
  interrupted.addEventListener("abort", stop, { once: true });
  if (interrupted.aborted) stop();
  const woken = new Wakeup();
  const release = terminal.hold({
    onKey: (key) => (quitKeys.test(key) ? stop() : woken.wake()),
    onResize: () => woken.wake(),
  });
  stdout.write(enter);
  try {
    // Quitting the screen also cancels a pending question.
    const asking = { ...context, shell: { ...context.shell, interrupted: quit.signal } };
    await refresh(asking, terminal, { first, quit: quit.signal, woken });
  } finally {
    stdout.write(leave);
    release();
    interrupted.removeEventListener("abort", stop);
  }
  // A signal came from outside; Ctrl-C arrives as a key.
  if (interrupted.aborted) throw interruptedFailure("watching the node");
}

interface Loop {
  readonly first: TopAnswer;
  readonly quit: AbortSignal;
  readonly woken: Wakeup;
}

async function refresh(context: Context, terminal: Terminal, { first, quit, woken }: Loop): Promise<void> {
  const { shell } = context;
  const paint = paintFor(shell.stdout, shell.env);
  let [answer, before, trouble]: [TopAnswer, TopAnswer | undefined, string] = [first, undefined, ""];
  while (!quit.aborted) {
    const { columns, rows } = terminal.size();
    const lines = topScreen({ answer, before, columns, rows, paint, trouble });
    shell.stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`);
    const isDue = await woken.orAfter(context, quit);
    // A key or a new size only redraws; the daemon is asked once a second.
    if (!isDue || quit.aborted) continue;
    const next = await askOrSay(context, quit);
    if (typeof next === "string") trouble = next;
    else [answer, before, trouble] = [next, answer, ""];
  }
}

/** A restart of the daemon does not end the screen; it becomes a line on it. */
async function askOrSay(context: Context, quit: AbortSignal): Promise<TopAnswer | string> {
  try {
    return await askDaemon(context, { ask: "top" });
  } catch (thrown) {
    if (quit.aborted) return "";
    if (isUnreachable(thrown)) return `${toFailure(thrown).message}; the numbers are its last ones`;
    throw thrown;
  }
}

/** A pause that a key or a new size can end early. */
class Wakeup {
  #wake: (() => void) | undefined;

  wake(): void {
    this.#wake?.();
  }

  /** Resolves to true when the time is up. */
  orAfter({ shell }: Context, quit: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isDue: boolean): void => {
        this.#wake = undefined;
        quit.removeEventListener("abort", onQuit);
        cancel();
        resolve(isDue);
      };
      const onQuit = (): void => end(false);
      const cancel = shell.clock.after(refreshMs, () => end(true));
      this.#wake = () => end(false);
      quit.addEventListener("abort", onQuit, { once: true });
    });
  }
}
