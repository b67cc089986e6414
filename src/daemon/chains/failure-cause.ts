import type { Failure, FailureCause } from "../../admission/hold/retry-budget.ts";
import type { ErrorCode, LeveeError } from "../../base/errors.ts";

/** Errors before the first plugin runs that the pod's own request causes. Other errors are not charged. */
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

/** Errors while plugins run. */
const ofPlugins: Partial<Record<ErrorCode, FailureCause>> = {
  "decode-failed": "network",
  "delegate-failed": "network",
  "delegate-missing": "network",
  "delegate-oom": "network",
  "delegate-timeout": "network",
  "delegate-unrunnable": "network",
  "field-unsupported": "own",
  "interface-taken": "own",
  "routes-failed": "network",
};

/** The failure to charge for an error in a pod's request; undefined when none is charged. */
export function requestFailure(error: LeveeError): Failure | undefined {
  const cause = ofRequest[error.code];
  return cause === undefined ? undefined : { cause, reason: error.message };
}

/** The failure to charge for an error while the plugins of a network ran; undefined when none is charged. */
export function pluginFailure(error: LeveeError, network: string): Failure | undefined {
  const cause = ofPlugins[error.code];
  if (cause === undefined) return undefined;
  return cause === "network" ? { cause, network, reason: error.message } : { cause, reason: error.message };
}
