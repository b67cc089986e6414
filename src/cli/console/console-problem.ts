import { oneLine } from "../../base/plain-text.ts";
import { kubeStatusOf } from "../../kube/client/api.ts";
import type { ConsoleProblem } from "../../wire/console-view.ts";
import { toFailure } from "../failure.ts";

/** Failures that only say "not like this", with the status that a page understands. */
const statuses: Readonly<Record<string, number>> = {
  "decision-unknown": 404,
  "pod-unknown": 404,
  "decision-ended": 409,
  "decision-proposed": 409,
  "plan-changed": 409,
  "approval-required": 422,
  "usage": 422,
  "daemon-unreachable": 503,
  "api-unreachable": 503,
};

/** The same words as on the command line, for the page. */
export function consoleProblem(thrown: unknown): { readonly status: number; readonly problem: ConsoleProblem } {
  const { code, message, remedy, cause } = toFailure(thrown);
  const refused = kubeStatusOf(thrown) ?? kubeStatusOf(cause);
  const status = statuses[code] ?? (refused === 403 || refused === 404 || refused === 409 ? refused : 500);
  return { status, problem: { code, message: oneLine(message), remedy: oneLine(remedy) } };
}
