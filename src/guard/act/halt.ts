import { LeveeError } from "../../base/errors.ts";
import type { DecisionStatus } from "../decision/decision.ts";

/** Somebody has said stop, or the approval does not stand any more: `status` is what the Decision is to have now. */
export class HaltError extends LeveeError {
  readonly status: DecisionStatus;

  constructor(status: DecisionStatus) {
    super("cancelled", `Cannot go on: ${status.message}`);
    this.status = status;
  }
}

/** The Decision is not there any more, or is not the one that was begun: there is nothing to write to. */
export class DecisionGoneError extends LeveeError {
  constructor(name: string) {
    super("cancelled", `Cannot go on: the Decision ${name} is not there any more`);
  }
}
