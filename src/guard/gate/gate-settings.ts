import type { RebootWindow } from "./reboot-window.ts";

export const gateDoors = ["label", "annotation", "lease", "http"] as const;

/** A way in which somebody who reboots nodes sees the verdict. */
export type GateDoor = (typeof gateDoors)[number];

export interface GateSettings {
  /** How long a verdict stands. */
  readonly expiryMs: number;
  /** How many nodes may be allowed at the same time. */
  readonly atOnce: number;
  /** Absent: at any time. */
  readonly window?: RebootWindow;
  /** The DaemonSets of kured, `namespace/name`, whose lock is read. Those that do not exist are ignored. */
  readonly kured: readonly string[];
  readonly doors: readonly GateDoor[];
}

export const defaultGateSettings: GateSettings = {
  expiryMs: 120_000,
  atOnce: 1,
  kured: ["kube-system/kured", "kured/kured"],
  doors: [],
};
