import { systemClock, type Clock } from "../base/clock.ts";
import type { Screen, Shell } from "./shell.ts";

/** A process for tests: it keeps what is written, and Ctrl-C is a method. */
export interface FakeShell extends Shell {
  readonly stdout: FakeScreen;
  readonly stderr: FakeScreen;
  interrupt(): void;
}

export class FakeScreen implements Screen {
  readonly isTerminal: boolean;
  text = "";

  constructor(isTerminal: boolean) {
    this.isTerminal = isTerminal;
  }

  write(text: string): void {
    this.text += text;
  }
}

interface FakeShellOptions {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  readonly clock?: Clock;
  readonly isRoot?: boolean;
  readonly self?: readonly [string, ...string[]];
}

export function fakeShell(options: FakeShellOptions = {}): FakeShell {
  const controller = new AbortController();
  const isTerminal = options.isTerminal ?? false;
  return {
    argv: options.argv ?? [],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...options.env },
    stdout: new FakeScreen(isTerminal),
    stderr: new FakeScreen(isTerminal),
    clock: options.clock ?? systemClock,
    self: options.self ?? ["/nowhere/levee"],
    isRoot: options.isRoot ?? true,
    interrupted: controller.signal,
    interrupt: () => controller.abort(),
  };
}
