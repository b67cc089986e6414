import { interruptedFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** Longer than any name; further characters are ignored. */
const charsMax = 300;
const endKeys: ReadonlySet<string> = new Set(["\r", "\n"]);
/** Ctrl-C and Ctrl-D. */
const stopKeys: ReadonlySet<string> = new Set(["\u0003", "\u0004"]);
const rubKeys: ReadonlySet<string> = new Set(["\u007f", "\b"]);

/** One line that a person types; undefined without a terminal. */
export async function typeLine(shell: Shell, question: string): Promise<string | undefined> {
  const { terminal, stderr, interrupted } = shell;
  if (terminal === undefined) return undefined;
  stderr.write(question);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const stop = (): void => reject(interruptedFailure("waiting for an answer"));
  interrupted.addEventListener("abort", stop, { once: true });
  if (interrupted.aborted) stop();
  const typed = new TypedLine((text) => stderr.write(text));
  const release = terminal.hold({
    onKey(keys) {
      const end = typed.add(keys);
      if (end === "done") resolve(typed.text);
      if (end === "stop") stop();
    },
    onResize: () => undefined,
  });
  try {
    return await promise;
  } finally {
    release();
    stderr.write("\n");
    interrupted.removeEventListener("abort", stop);
  }
}

/** The text typed so far. It echoes the keys, because a held terminal does not. */
export class TypedLine {
  readonly #echo: (text: string) => void;
  text = "";

  constructor(echo: (text: string) => void) {
    this.#echo = echo;
  }

  /** Takes one key, or several if they were pasted. */
  add(keys: string): "more" | "done" | "stop" {
    // Arrow keys begin with Escape and mean nothing here.
    if (keys.startsWith("\u001b")) return "more";
    for (const key of keys) {
      if (endKeys.has(key)) return "done";
      if (stopKeys.has(key)) return "stop";
      if (rubKeys.has(key)) this.#rub();
      else if (key >= " ") this.#put(key);
    }
    return "more";
  }

  #put(key: string): void {
    if (this.text.length >= charsMax) return;
    this.text += key;
    this.#echo(key);
  }

  #rub(): void {
    if (this.text === "") return;
    this.text = this.text.slice(0, -1);
    this.#echo("\b \b");
  }
}
