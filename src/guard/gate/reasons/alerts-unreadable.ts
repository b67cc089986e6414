import type { GateReason } from "../../../wire/gate-codes.ts";
import { foreignText } from "../../detect/foreign-text.ts";
import type { GateFacts } from "../gate-facts.ts";

/** An Alertmanager is set and cannot be read: an alert may fire unseen. Without the setting there is no such reason. */
export function alertsUnreadable(_node: unknown, { alertsUnread, nowMs }: GateFacts): readonly GateReason[] {
  if (alertsUnread === undefined) return [];
  return [
    {
      code: "AlertsUnreadable",
      message: foreignText(`nobody can say which alerts fire: ${alertsUnread}`, 1_024),
      sinceMs: nowMs,
      object: "Alertmanager",
      remedy: "make the address in --alertmanager answer the guard, or take the setting away",
    },
  ];
}
