import type { Failure, FailureCause } from "../../admission/hold/retry-budget.ts";
import type { ErrorCode, LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { prefix } from "../../hands/explain-outcome.ts";
import type { Ran } from "../../hands/run-chain.ts";
import type { Outcome } from "../../wire/outcome.ts";
import { ownValues } from "./own-values.ts";

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

/** The chain that failed. */
interface FailedChain {
  readonly chain: Chain;
  /** The pod chose it as its default network, in the place of the node's. */
  readonly isChosen: boolean;
  /** The last plugin that ran; undefined when none did. */
  readonly last: Ran | undefined;
}

/** The failure to charge for an error while the plugins of a network ran; undefined when none is charged. */
export function pluginFailure(error: LeveeError, network: string, failed: FailedChain): Failure | undefined {
  const cause = ofPlugins[error.code];
  const reason = error.message;
  if (cause !== "network") return cause === undefined ? undefined : { cause, reason };
  // No plugin works without a namespace. Neither the network is to blame, nor the pod, whose next sandbox has another.
  if (failed.last?.outcome.isNetnsGone === true) return undefined;
  // Its pods do not wait for it in line, so only their own holds slow them down.
  if (failed.isChosen) return { cause: "values", reason };
  const values = answeredValues(error, failed);
  if (values === undefined) return { cause, network, reason };
  return { cause, network, reason, answer: { words: reason.replace(prefix(failed.chain), ""), values } };
}

/** The pod's own values that were answered with this error; undefined when it is no answer to them. */
function answeredValues({ code }: LeveeError, { chain, last }: FailedChain): string | undefined {
  if (code === "routes-failed") return JSON.stringify(chain.routes);
  const isAnswer = code === "delegate-failed" || code === "decode-failed";
  return isAnswer && last !== undefined && hasExited(last.outcome) ? ownValues(chain, last.link) : undefined;
}

function hasExited({ exitCode, signal, timedOut, failure }: Outcome): boolean {
  return exitCode !== undefined && signal === undefined && !timedOut && failure === undefined;
}
