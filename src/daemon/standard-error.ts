import { constants, fstatSync, openSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { LogStream } from "../base/log-output.ts";
import { DescriptorStream } from "./descriptor-stream.ts";

/** The stream for the daemon's lines; `end` waits for lines that are not written yet. */
export interface StandardError extends LogStream {
  end(): Promise<void>;
}

const descriptor = 2;
const ownPath = "/proc/self/fd/2";

/**
 * The process's standard error without `process.stderr`, which loads Node's streams and costs 1.4 MiB (ADR 0025).
 * A pipe or a terminal is opened a second time with O_NONBLOCK, so that a write never waits for its reader. Setting the
 * flag on the given descriptor would set it for every process that shares it.
 */
export function standardError(clock: Clock): StandardError {
  const facts = fstatSync(descriptor);
  if (facts.isFile()) return new DescriptorStream(descriptor, clock);
  const own = facts.isFIFO() || facts.isCharacterDevice() ? openedAgain() : undefined;
  if (own !== undefined) return new DescriptorStream(own, clock);
  // A device that cannot be opened again is used directly.
  return facts.isCharacterDevice() ? new DescriptorStream(descriptor, clock) : nodeStream();
}

function openedAgain(): number | undefined {
  try {
    return openSync(ownPath, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // /proc is missing, or the pipe or terminal belongs to another user.
    return undefined;
  }
}

/** A socket, such as systemd's journal, cannot be opened again. */
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
