import type { VerifyCheck, VerifyStep } from "../../decision/step.ts";
import { timeMs } from "../../json-values.ts";
import { probesProblem } from "../../observe/ask-prometheus.ts";
import { urlProblem } from "../../observe/ask-url.ts";
import type { StepContext } from "../step-runner.ts";

type OutsideCheck = Extract<VerifyCheck, { readonly check: "UrlAnswers" | "ProbesSucceed" }>;
type OutsideContext = Pick<StepContext, "clock" | "decision" | "settings" | "getText" | "signal">;

/**
 * Why people outside do not see a recovered cluster. Only addresses of this guard's own settings are asked: the plan names
 * them, so that a person approves what counts, and its text alone sends the guard nowhere.
 */
export async function outsideProblem(check: OutsideCheck, context: OutsideContext): Promise<string | undefined> {
  return check.check === "UrlAnswers" ? await url(check, context) : await probes(context);
}

async function url(
  check: Extract<OutsideCheck, { readonly check: "UrlAnswers" }>,
  { clock, settings, signal }: OutsideContext,
): Promise<string | undefined> {
  const asked = settings.verifyUrls?.find((one) => one.url === check.url && one.status === check.status);
  if (asked === undefined)
    return `${check.url}: this guard is no longer told to ask it: start it with --verify-url again`;
  const problem = await urlProblem(clock, asked, signal);
  return problem === undefined ? undefined : `${check.url}: ${problem}`;
}

async function probes({ clock, decision, settings, ...way }: OutsideContext): Promise<string | undefined> {
  const { prometheus } = settings;
  if (prometheus === undefined)
    return "this guard is no longer told which Prometheus to ask: start it with --prometheus";
  const verify = decision.spec.steps.find((step): step is VerifyStep => step.action === "Verify");
  const problem = await probesProblem(clock, prometheus, timeMs(verify?.verify.since), way);
  return problem === undefined ? undefined : `${prometheus.url}: ${problem}`;
}
