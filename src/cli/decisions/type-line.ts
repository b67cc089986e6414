import { interruptedFailure } from "../failure.ts";
import type { World } from "../world.ts";

/** Longer than any name; what is typed beyond it is not kept. */
const charsMax = 300;

/** One line as a person types it, or undefined where nobody sits. */
export async function typeLine(world: World, question: string): Promise<string | undefined> {
  const { terminal, stderr, interrupted } = world;
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

/** What has been typed so far. The terminal shows nothing by itself while its keys are taken. */
export class TypedLine {
  readonly #echo: (text: string) => void;
  text = "";

  constructor(echo: (text: string) => void) {
    this.#echo = echo;
  }

  /** Takes keys as they come, several at once when they were pasted. */
  add(keys: string): "more" | "done" | "stop" {
    // Arrows and the like begin with Escape and mean nothing here.
    if (keys.startsWith("\u001b")) return "more";
    for (const key of keys) {
      if (key === "\r" || key === "\n") return "done";
      if (key === "\u0003" || (key === "\u0004" && this.text === "")) return "stop";
      if (key === "\u007f" || key === "\b") this.#rub();
      else if (key >= " " && this.text.length < charsMax) this.#put(key);
    }
    return "more";
  }

  #put(key: string): void {
    this.text += key;
    this.#echo(key);
  }

  #rub(): void {
    if (this.text === "") return;
    this.text = this.text.slice(0, -1);
    this.#echo("\b \b");
  }
}
