import type { DryRunAnswer } from "../../src/wire/dry-run.ts";
import type { Lab } from "../lab/lab.ts";

/** Begins a dry run of `default/NAME`. */
export function beginDryRun(lab: Lab, name: string): Promise<DryRunAnswer> {
  return lab.ask<DryRunAnswer>({ ask: "dry-run", run: { namespace: "default", name } });
}

export async function untilDryRunEnded(lab: Lab, id: string): Promise<DryRunAnswer> {
  return await lab.until("the dry run has ended", async () => {
    const answer = await lab.ask<DryRunAnswer>({ ask: "dry-run", id });
    return answer.state === "running" ? undefined : answer;
  });
}

/** The daemon needs a moment to see a new definition in its folder. */
export async function dryRun(lab: Lab, name: string): Promise<DryRunAnswer> {
  return await lab.until(`the daemon knows ${name}`, async () => {
    const answer = await untilDryRunEnded(lab, (await beginDryRun(lab, name)).id);
    return answer.reason.startsWith("cannot find a network-attachment-definition") ? undefined : answer;
  });
}
