import type { Knob, NumberKnob, PathKnob, PortKnob } from "./knob.ts";

/**
 * Every number that can be set in daemon-config.json. docs/knobs.md lists the same and is checked against this table;
 * how the budgets must add up is in budgets.ts.
 */
export const numberKnobs = {
  addBudgetMs: ms(
    55_000,
    5_000,
    110_000,
    "The whole of one ADD as the shim enforces it; containerd holds a read lock meanwhile, so one endless ADD and one change of a conf would stop the node.",
  ),
  addLookupMs: ms(
    5_000,
    100,
    30_000,
    "How long an ADD waits for its pod and its networks to appear in the local view.",
  ),
  addDelegatesMs: ms(
    25_000,
    1_000,
    100_000,
    "All plugins of one ADD together; a plugin past it is killed with its children.",
  ),
  addUndoMs: ms(
    8_000,
    1_000,
    60_000,
    "Kept back for undoing a failed ADD by the same shim, before the error is answered.",
  ),
  addQueueMs: ms(15_000, 100, 60_000, "How long an ADD waits for a slot before it is told to come back later."),
  delBudgetMs: ms(
    50_000,
    5_000,
    55_000,
    "The whole of one DEL; containerd gives its clean-up 60 s, so the answer must be out before that.",
  ),
  delDelegatesMs: ms(25_000, 1_000, 50_000, "All plugins of one DEL together."),
  delQueueMs: ms(
    20_000,
    100,
    50_000,
    "How long a DEL waits for a slot before it is made durable and answered with success.",
  ),
  delPatienceMs: ms(
    2_000,
    1,
    20_000,
    "How long the shim tries to reach the daemon for a DEL before it writes a durable delete record.",
  ),
  delAttemptsMax: count(
    3,
    1,
    100,
    "Failed DELs answered with the error before the rest goes to the leak ledger and DEL succeeds, so that no pod hangs in Terminating.",
  ),
  heartbeatMs: ms(
    5_000,
    100,
    15_000,
    "How often the daemon tells waiting shims that it lives; three missed ones count as a lost daemon.",
  ),
  attachCeiling: count(8, 1, 256, "ADDs that run at once; each holds a plugin process in the runtime's cgroup."),
  attachStart: count(
    2,
    1,
    256,
    "ADDs that run at once right after a start, when nothing is known of the node yet; the limit doubles from there.",
  ),
  detachCeiling: count(
    4,
    1,
    256,
    "DELs that run at once, in slots of their own, so that clean-up is never starved by a storm of ADDs.",
  ),
  waitingMax: count(
    2_000,
    16,
    100_000,
    "Calls that may wait; each costs the daemon a connection and a header, and a full node has some hundred pods.",
  ),
  addHoldMs: ms(
    300_000,
    0,
    3_600_000,
    "The longest pause of a pod that fails by its own request, from 10 s doubling; a change of its annotation, its networks or the primary's conf ends it. 0: every retry is served.",
  ),
  shutdownMs: ms(
    10_000,
    0,
    60_000,
    "How long an orderly stop waits for running calls; what is left is taken up again after the restart.",
  ),
  gcIntervalMs: ms(
    300_000,
    0,
    86_400_000,
    "How often the daemon looks for garbage by itself, as containerd never asks for it; 0 turns that off. A look costs one small order per pod.",
  ),
  gcGraceMs: ms(
    30_000,
    100,
    3_600_000,
    "An attachment must be dead at two looks this far apart before it is detached: the runtime's own DEL may be on its way.",
  ),
  recorderBytes: {
    unit: "bytes",
    default: 4_194_304,
    min: 262_144,
    max: 268_435_456,
    reason:
      "The flight recorder's files below `stateDir`, from which `levee why` tells the story of a pod: about 2 KiB for each ADD and its DEL, so the last two thousand pods.",
    origin: "levee",
  },
  undoRetryMs: ms(5_000, 100, 600_000, "Pause before an undo that could not be finished is tried again."),
} as const satisfies Record<string, NumberKnob>;

/** Every path that is ours to use. `socketDir` and `daemonSocketDir` keep Multus' names and meaning. */
export const pathKnobs = {
  stateDir: {
    unit: "path",
    default: "/var/lib/levee",
    bytesMax: 1_024,
    reason:
      "The journal and the offline delete records, as a path that is the same on the host; it must survive a reboot.",
    origin: "levee",
  },
  directory: {
    unit: "path",
    default: undefined,
    bytesMax: 1_024,
    reason: "Folder with networks and pods as YAML, for a machine without a cluster; off unless set.",
    origin: "levee",
  },
  kubeletDir: {
    unit: "path",
    default: "/var/lib/kubelet",
    bytesMax: 72,
    reason:
      "The kubelet's folder, whose `pod-resources/kubelet.sock` and device checkpoint tell which devices a pod was given.",
    origin: "levee",
  },
  deviceInfoDir: {
    unit: "path",
    default: "/var/run/k8s.cni.cncf.io/devinfo",
    bytesMax: 1_024,
    reason: "Where device plugins and CNI plugins describe devices; the same path on the host and in the daemon's pod.",
    origin: "levee",
  },
  runtimeCniDir: {
    unit: "path",
    default: "/var/lib/cni",
    bytesMax: 1_024,
    reason:
      "Where on the host the runtime (`results`) and host-local (`networks`) keep their files: read to find addresses without a sandbox.",
    origin: "levee",
  },
  socketDir: {
    unit: "path",
    default: "/run/levee",
    // sun_path holds 108 bytes; the socket is bound under a longer, unique name first.
    bytesMax: 72,
    reason:
      "Where the daemon listens (`levee.sock`), as the daemon sees it; the kernel limits a socket's whole path to 107 bytes.",
    origin: "multus",
  },
  daemonSocketDir: {
    unit: "path",
    default: undefined,
    bytesMax: 72,
    reason: "The same folder as the shim sees it on the host; unless set, `socketDir` less a leading `/host`.",
    origin: "multus",
  },
} as const satisfies Record<string, PathKnob>;

/** Every port that is ours to open. `metricsPort` is Multus'. */
export const portKnobs = {
  healthPort: {
    unit: "port",
    default: undefined,
    min: 1,
    max: 65_535,
    reason:
      "Port of `/healthz` and `/readyz` on 127.0.0.1, for kubelet's probes; off unless set, and another one than `metricsPort`.",
    origin: "levee",
  },
} as const satisfies Record<string, PortKnob>;

export const knobs: Readonly<Record<NumberKnobKey | PathKnobKey | PortKnobKey, Knob>> = {
  ...pathKnobs,
  ...portKnobs,
  ...numberKnobs,
};

export type NumberKnobKey = keyof typeof numberKnobs;
type PathKnobKey = keyof typeof pathKnobs;
type PortKnobKey = keyof typeof portKnobs;

function ms(byDefault: number, min: number, max: number, reason: string): NumberKnob {
  return { unit: "ms", default: byDefault, min, max, reason, origin: "levee" };
}

function count(byDefault: number, min: number, max: number, reason: string): NumberKnob {
  return { unit: "count", default: byDefault, min, max, reason, origin: "levee" };
}
