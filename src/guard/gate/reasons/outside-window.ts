import type { GateReason } from "../../../wire/gate-codes.ts";
import type { GateFacts } from "../gate-facts.ts";
import { isInWindow } from "../reboot-window.ts";

/** A reboot window is set and is closed now. */
export function outsideWindow(_node: unknown, { settings: { window }, nowMs }: GateFacts): readonly GateReason[] {
  if (window === undefined || isInWindow(window, nowMs)) return [];
  return [
    {
      code: "OutsideWindow",
      message: `the reboot window (${window.text}) is closed`,
      sinceMs: nowMs,
      object: "RebootWindow",
      remedy: "wait until it opens, or change --reboot-window",
    },
  ];
}
