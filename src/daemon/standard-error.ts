import { constants, fstatSync, openSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { LogStream } from "../base/log-output.ts";
import { DescriptorStream } from "./descriptor-stream.ts";

/** Where the daemon's lines go, and an end that waits for those not yet taken. */
export interface StandardError extends LogStream {
  end(): Promise<void>;
}

const descriptor = 2;
const ownPath = "/proc/self/fd/2";

/**
 * The process's standard error without `process.stderr`, which brings Node's streams and 1.4 MiB with it (ADR 0025).
 * A pipe, as container runtimes give it, and a terminal, as with `tty: true` or at a person's desk, are opened once more
 * so that a write never waits for who reads it: a flag set on the given descriptor would be set for all who share it.
 */
export function standardError(clock: Clock): StandardError {
  const facts = fstatSync(descriptor);
  if (facts.isFile()) return new DescriptorStream(descriptor, clock);
  const own = facts.isFIFO() || facts.isCharacterDevice() ? openedAgain() : undefined;
  if (own !== undefined) return new DescriptorStream(own, clock);
  // A device that cannot be opened again is written to as it is.
  return facts.isCharacterDevice() ? new DescriptorStream(descriptor, clock) : nodeStream();
}

function openedAgain(): number | undefined {
  try {
    return openSync(ownPath, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // No /proc, or a pipe or terminal of another user.
    return undefined;
  }
}

/** A socket, as systemd's journal gives it, cannot be opened again. */
function nodeStream(): StandardError {
  const { stderr } = process;
  // Without a listener the error would end the process.
  stderr.on("error", () => undefined);
  return {
    write: (text, done) => stderr.write(text, done),
    end: () =>
      new Promise((resolve) => {
        stderr.once("error", () => resolve());
        stderr.end(() => resolve());
      }),
  };
}
