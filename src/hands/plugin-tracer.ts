import type { RunOrder } from "../wire/messages.ts";
import type { Outcome } from "../wire/outcome.ts";

/** Traces the plugins of one hand. */
export interface PluginTracer {
  /** A plugin is about to run. Returns its order with a span of its own. */
  begin(order: RunOrder): RunOrder;
  /** The plugin of that order, as `begin` returned it, has ended. */
  end(outcome: Outcome, order: RunOrder): void;
}
