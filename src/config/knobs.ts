import { flagKnobs } from "./flag-knobs.ts";
import { count, ms, offPath, type Knob, type NumberKnob, type PathKnob, type PortKnob } from "./knob.ts";
import { timeBudgets } from "./time-budgets.ts";
import { choiceKnobs, listKnobs, urlKnobs } from "./word-knobs.ts";

/**
 * Every number setting of daemon-config.json; time-budgets.ts has the times of a call. A check compares docs/knobs.md
 * with this table.
 */
export const numberKnobs = {
  ...timeBudgets,
  delAttemptsMax: count(
    3,
    1,
    100,
    "How many failed DELs return the error. After that the rest goes to the leak ledger and DEL succeeds, so that no pod hangs in Terminating.",
  ),
  heartbeatMs: ms(
    5_000,
    100,
    15_000,
    "How often the daemon sends a heartbeat to waiting shims. After three missed ones a shim takes the daemon for lost.",
  ),
  uplinkGate: count(
    1,
    0,
    1,
    "Whether pods are kept from a bridge network without a gateway while its bridge, uplink or VLAN is missing on the node (1), or the plugin may make a bridge that leads nowhere (0). The annotations `levee.dev/uplink` and `levee.dev/uplink-vlan` decide for one network: one that names an uplink or a VLAN keeps its pods back with 0 as well, and `none` waits for neither.",
  ),
  attachCeiling: count(8, 1, 256, "ADDs that run at once; each holds a plugin process in the runtime's cgroup."),
  attachStart: count(
    2,
    1,
    256,
    "ADDs that run at once right after a start, when nothing is known about the node; the limit doubles from there.",
  ),
  detachCeiling: count(
    32,
    1,
    256,
    "The most DELs that run at once, in slots of their own, so that a storm of ADDs never starves the clean-up. Four run under any load; more only while that does not slow them down.",
  ),
  waitingMax: count(
    2_000,
    16,
    100_000,
    "Calls that may wait in line. Each costs the daemon a connection and a header, and a full node has some hundred pods.",
  ),
  addHoldMs: ms(
    300_000,
    0,
    3_600_000,
    "The longest hold of a pod that fails because of its own request. It starts at 10 s and doubles; a change of the pod's annotation, its networks or the primary's conf ends it. 0 turns holds off.",
  ),
  shutdownMs: ms(
    10_000,
    0,
    60_000,
    "How long an orderly stop waits for running calls. Calls that are left go on after the restart.",
  ),
  gcIntervalMs: ms(
    300_000,
    0,
    86_400_000,
    "How often the daemon looks for garbage, because containerd never sends GC; 0 turns it off. A round costs one small order per pod.",
  ),
  gcGraceMs: ms(
    30_000,
    100,
    3_600_000,
    "An attachment must be dead at two looks this far apart before it is undone, because the runtime's own DEL may be on its way.",
  ),
  recorderBytes: {
    unit: "bytes",
    default: 4_194_304,
    min: 262_144,
    max: 268_435_456,
    reason:
      "The size of the flight recorder's files below `stateDir`, which `levee why` reads. An ADD with its DEL takes about 2 KiB, so the default holds the last two thousand pods.",
    origin: "levee",
  },
  gateLookMs: ms(
    20_000,
    200,
    60_000,
    "How often the daemon reads the reboot gate of its node: always where `gateFile` is set, else only while the guard has opened the gate. One small request.",
  ),
  tracesOneIn: count(
    100,
    0,
    1_000_000,
    "With `tracesEndpoint`: of the pods whose calls succeed, one in so many is traced. Calls that fail always are, and so is every call whose runtime says that its trace is recorded. 0 leaves it at those, 1 traces all.",
  ),
  undoRetryMs: ms(5_000, 100, 600_000, "Pause before an unfinished undo is tried again."),
} as const satisfies Record<string, NumberKnob>;

/** Every path setting. `socketDir` and `daemonSocketDir` keep Multus' names and meaning. */
export const pathKnobs = {
  stateDir: {
    unit: "path",
    default: "/var/lib/levee",
    bytesMax: 1_024,
    reason:
      "Folder of the journal and the offline delete records. It needs the same path on the host and must survive a reboot.",
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
      "The kubelet's folder. Its `pod-resources/kubelet.sock` and device checkpoint show which devices a pod has.",
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
      "Folder on the host where the runtime (`results`) and host-local (`networks`) keep their files. The daemon reads it to find addresses without a sandbox, pods that were attached before Levee came, and results whose acknowledgement is lost.",
    origin: "levee",
  },
  socketDir: {
    unit: "path",
    default: "/run/levee",
    // sun_path holds 108 bytes, and the daemon first binds the socket under a longer, unique name.
    bytesMax: 72,
    reason:
      "Where the daemon listens (`levee.sock`), as the daemon sees it; the kernel limits a socket's whole path to 107 bytes.",
    origin: "multus",
  },
  daemonSocketDir: {
    unit: "path",
    default: undefined,
    bytesMax: 72,
    reason: "The same folder as the shim sees it on the host; the default is `socketDir` without a leading `/host`.",
    origin: "multus",
  },
  multusSocketDir: offPath(
    72,
    "Folder in which the daemon also answers on `multus.sock` as Multus' daemon does, such as `/host/run/multus`: for `multus-shim` and `multus-dynamic-networks-controller` [during a move](migrate.md#multussock-during-the-move). It needs the resident hand; off unless set.",
  ),
  gateFile: offPath(
    1_024,
    "File in memory, such as `/host/run/levee/gate`, in which the daemon keeps whether its node may be rebooted, for `levee-shim gate check`; off unless set.",
  ),
  tracesHeadersFile: {
    unit: "path",
    default: undefined,
    bytesMax: 1_024,
    reason:
      "With `tracesEndpoint`: file of the daemon's pod with header fields for the collector, one `Name: value` per line, such as a token. It is read for each batch, so a token may rotate.",
    origin: "levee",
  },
  tracesCaFile: {
    unit: "path",
    default: undefined,
    bytesMax: 1_024,
    reason:
      "With `tracesEndpoint` and `https`: file of the daemon's pod with the authority of the collector's certificate, as PEM. Then no public authority counts.",
    origin: "levee",
  },
} as const satisfies Record<string, PathKnob>;

/** Every port setting except `metricsPort`, which is a key of Multus. */
export const portKnobs = {
  healthPort: {
    unit: "port",
    default: undefined,
    min: 1,
    max: 65_535,
    reason:
      "Port of `/healthz` and `/readyz` on 127.0.0.1 for kubelet's probes; off unless set. It must differ from `metricsPort`.",
    origin: "levee",
  },
} as const satisfies Record<string, PortKnob>;

export const knobs: Readonly<Record<KnobKey, Knob>> = {
  ...pathKnobs,
  ...portKnobs,
  ...listKnobs,
  ...urlKnobs,
  ...flagKnobs,
  ...choiceKnobs,
  ...numberKnobs,
};

export type NumberKnobKey = keyof typeof numberKnobs;
type KnobKey =
  | NumberKnobKey
  | PathKnobKey
  | PortKnobKey
  | ListKnobKey
  | UrlKnobKey
  | keyof typeof flagKnobs
  | keyof typeof choiceKnobs;
type PathKnobKey = keyof typeof pathKnobs;
type PortKnobKey = keyof typeof portKnobs;
type ListKnobKey = keyof typeof listKnobs;
type UrlKnobKey = keyof typeof urlKnobs;
