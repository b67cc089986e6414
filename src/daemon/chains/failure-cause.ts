import type { Failure, FailureCause } from "../../admission/hold/retry-budget.ts";
import type { ErrorCode, LeveeError } from "../../base/errors.ts";

/** Found wrong before the first plugin runs: what the pod asks for. What is not here is nobody's fault, or the node's. */
const ofRequest: Partial<Record<ErrorCode, FailureCause>> = {
  "annotation-invalid": "own",
  "config-invalid": "own",
  "decode-failed": "own",
  "field-unsupported": "own",
  "interface-taken": "own",
  "isolation-violated": "own",
  "network-unknown": "own",
  "version-unsupported": "own",
};

/** What a plugin did, or did not do. */
const ofPlugins: Partial<Record<ErrorCode, FailureCause>> = {
  "decode-failed": "network",
  "delegate-failed": "network",
  "delegate-missing": "network",
  "delegate-oom": "network",
  "delegate-timeout": "network",
  "field-unsupported": "own",
  "interface-taken": "own",
  "routes-failed": "network",
};

/** Who pays for an error of what a pod asks for; undefined when nobody does. */
export function requestFailure(error: LeveeError): Failure | undefined {
  const cause = ofRequest[error.code];
  return cause === undefined ? undefined : { cause, reason: error.message };
}

/** Who pays for an error while the plugins of a network ran. */
export function pluginFailure(error: LeveeError, network: string): Failure | undefined {
  const cause = ofPlugins[error.code];
  if (cause === undefined) return undefined;
  return cause === "network" ? { cause, network, reason: error.message } : { cause, reason: error.message };
}
