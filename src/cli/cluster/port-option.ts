import { usageFailure } from "../failure.ts";

/** The manifests set this port. */
export const metricsPortDefault = "9810";

/** The value of `--metrics-port`; `example` is for the error message. */
export function metricsPortOf(text: string, example: string): number {
  return portOf("--metrics-port", text, example);
}

export function portOf(flag: string, text: string, example: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw usageFailure(
    `Cannot use ${flag} as it must be a port from 1 to 65535: current value is ${JSON.stringify(text)}`,
    `${flag} ${example}`,
  );
}
