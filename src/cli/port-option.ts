import { usageFailure } from "./failure.ts";

/** The value of `--metrics-port`; `example` is what a person could have written. */
export function metricsPortOf(text: string, example: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw usageFailure(
    `Cannot use --metrics-port as it must be a port from 1 to 65535: current value is ${JSON.stringify(text)}`,
    `--metrics-port ${example}`,
  );
}
