import { LeveeError } from "../../base/errors.ts";
import type { DecisionStatus } from "../decision/decision.ts";

/** A person has said stop, or the approval no longer counts. `status` is the Decision's new status. */
export class HaltError extends LeveeError {
  readonly status: DecisionStatus;

  constructor(status: DecisionStatus) {
    super("cancelled", `Cannot go on: ${status.message}`);
    this.status = status;
  }
}

/** The Decision is gone or is not the one that was started, so there is no status to write. */
export class DecisionGoneError extends LeveeError {
  constructor(name: string) {
    super("cancelled", `Cannot go on: the Decision ${name} is gone`);
  }
}
