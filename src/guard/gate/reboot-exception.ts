import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { timeMs } from "../json-values.ts";

/** A person's word that alerts with these labels do not keep nodes from their reboot, until then. */
export interface RebootException {
  readonly namespace: string;
  readonly name: string;
  readonly match: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly by: string;
  readonly untilMs: number;
  readonly createdMs: number;
}

/** Half a year of a full mount is no longer an exception. The admission policy refuses more; this is the second lock. */
export const exceptionMsMax = 90 * 24 * 3_600_000;

/** Undefined for an object that the definition would refuse. */
export function parseRebootException(value: unknown): RebootException | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const name = textOf(metadata["name"]);
  const match = Object.entries(objectOf(spec["match"])).map(([label, text]) => [label, textOf(text)] as const);
  if (name === "" || match.length === 0 || match.some(([, text]) => text === "")) return undefined;
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    match: Object.fromEntries(match),
    reason: textOf(spec["reason"]),
    by: textOf(objectOf(spec["by"])["username"]),
    untilMs: timeMs(spec["until"]),
    createdMs: timeMs(metadata["creationTimestamp"]),
  };
}

/** Whether every label of `match` is in these labels with the same value. */
export function exceptionMatches({ match }: RebootException, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(match).every(([label, text]) => labels[label] === text);
}
