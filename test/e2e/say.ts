const beganMs = performance.now();

/** A line of progress, with the seconds since the start. */
export function say(text: string): void {
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`${seconds} s  ${text}\n`);
}
