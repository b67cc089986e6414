import type { Clock } from "../base/clock.ts";

/** What the calling shell gives a command. A test passes a fake one and needs no process. */
export interface Shell {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly clock: Clock;
  /** Starts this program again: the binary, or the interpreter and its script. */
  readonly self: readonly [string, ...string[]];
  readonly isRoot: boolean;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP. A command then removes what it made, and ends. */
  readonly interrupted: AbortSignal;
  /** Reads standard input to its end, for git hooks. */
  readonly input?: () => Promise<string>;
  /** Undefined unless both stdin and stdout are terminals. */
  readonly terminal?: Terminal | undefined;
}

/** A terminal that reports each key, for a live screen. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  /** Takes the keyboard until the returned function is called. */
  hold(listener: TerminalListener): () => void;
}

interface TerminalListener {
  onKey(key: string): void;
  onResize(): void;
}

export interface Screen {
  readonly isTerminal: boolean;
  write(text: string): void;
}

/** The only variables that we pass to programs we start. */
const passedOn = ["PATH", "TRACEPARENT", "TRACESTATE", "BAGGAGE"] as const;

export function childEnv(
  shell: Pick<Shell, "env">,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) {
    const value = shell.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}
