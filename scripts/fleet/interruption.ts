/** A person's Ctrl-C: what runs ends with what is known so far. The second one ends the process at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const end = (): void => {
    if (controller.signal.aborted) process.exit(interruptedExit);
    controller.abort();
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  return controller.signal;
}

export const interruptedExit = 130;
