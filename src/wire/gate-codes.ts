/**
 * Every reason why a node may not be rebooted. The first group is written by the guard; the last is what a reader of a
 * gate finds by itself. Each has a section in docs/gate.md, which `levee explain CODE` prints.
 */
export const gateCodes = [
  "FiringAlert",
  "AlertsUnreadable",
  "DecisionOpen",
  "PodBacklog",
  "CniDaemonNotReady",
  "KuredLockHeld",
  "KuredLockOrphaned",
  "LastHealthyReplica",
  "DisruptionBudget",
  "OtherNodeNotReady",
  "OtherNodeCordoned",
  "OtherNodeRebooted",
  "ControlPlaneQuorum",
  "OutsideWindow",
  "WaitsForTurn",
  "NodeUnheard",
  "GuardBlind",
  "GateAbsent",
  "GateStale",
  "GateAhead",
  "GateUnreadable",
] as const;

export type GateCode = (typeof gateCodes)[number];

/** One reason not to reboot a node. */
export interface GateReason {
  readonly code: GateCode;
  /** One sentence with the facts; may contain words of tenants, cleaned. */
  readonly message: string;
  /** Since when, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** What it is about, such as `Node/k8s-node2` or `Alert/NodeFilesystemFull`. */
  readonly object: string;
  /** How to clear it. */
  readonly remedy: string;
}
