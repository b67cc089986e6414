import type { RunOrder } from "../wire/messages.ts";
import type { Outcome } from "../wire/outcome.ts";

/** Goes with every plugin that a hand runs: for traces, or to say where a built-in plugin stands in. */
export interface PluginAttendant {
  /** A plugin is about to run. Returns its order with what the attendant adds. */
  begin(order: RunOrder): RunOrder;
  /** The plugin of that order, as `begin` returned it, has ended. */
  end(outcome: Outcome, order: RunOrder): void;
}
