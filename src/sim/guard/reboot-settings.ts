import { defaultGateSettings, type GateSettings } from "../../guard/gate/gate-settings.ts";

/** How nodes are rebooted, and by which settings of the gate. */
export interface RebootSettings {
  readonly gate: GateSettings;
  /** Where whoever reboots a node looks; `either` leaves it to chance for each node. */
  readonly door: "label" | "ticket" | "either";
  /** How often he looks; `first` is the least time until the first look. */
  readonly askMs: { readonly first: number; readonly min: number; readonly max: number };
  /** How long a node is away when it is rebooted. */
  readonly rebootMs: number;
}

/** Of guard stories. */
export const usualRebootSettings: RebootSettings = {
  gate: { ...defaultGateSettings, doors: ["label", "annotation", "lease"] },
  door: "either",
  askMs: { first: 5_000, min: 5_000, max: 40_000 },
  rebootMs: 45_000,
};
