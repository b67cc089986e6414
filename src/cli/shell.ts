import type { Clock } from "../base/clock.ts";

/** The process as the commands see it, so that every command runs in a test without a process of its own. */
export interface Shell {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly clock: Clock;
  /** The command line that starts this program again: the binary, or the interpreter and its script. */
  readonly self: readonly [string, ...string[]];
  readonly isRoot: boolean;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP. Whoever made something removes it, then ends. */
  readonly interrupted: AbortSignal;
  /** What is written to our standard input, to its end; for hooks. */
  readonly input?: () => Promise<string>;
  /** Undefined unless a person sits at both ends. */
  readonly terminal?: Terminal | undefined;
}

/** A terminal whose keys are taken one by one, for a live screen. */
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

/** Variables that programs we start may see; everything else stays here. */
const passedOn = ["PATH", "TRACEPARENT", "TRACESTATE"] as const;

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
