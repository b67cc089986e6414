import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { timeMs } from "../json-values.ts";

/** A DecisionApproval about a gate: a person lets one node be rebooted until then, in spite of all reasons. */
export interface RebootOverride {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly untilMs: number;
  readonly reason: string;
  readonly by: string;
  readonly createdMs: number;
  /** Deleting it withdraws it, even while a finalizer keeps it. */
  readonly isDeleting: boolean;
}

/** A person who allows a reboot looks at it. The admission policy refuses more; this is the second lock. */
export const overrideMsMax = 4 * 3_600_000;

/** Undefined for an approval that is about a Decision. */
export function parseRebootOverride(value: unknown): RebootOverride | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const gate = objectOf(spec["gate"]);
  const name = textOf(metadata["name"]);
  const node = textOf(gate["node"]);
  if (name === "" || node === "" || spec["verdict"] !== "Allow") return undefined;
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    node,
    untilMs: timeMs(gate["until"]),
    reason: textOf(spec["reason"]),
    by: textOf(objectOf(spec["by"])["username"]),
    createdMs: timeMs(metadata["creationTimestamp"]),
    isDeleting: textOf(metadata["deletionTimestamp"]) !== "",
  };
}
