import { implementationNames } from "../sim-words.ts";

/** What one field of a scenario file may hold. */
export type Field =
  | {
      readonly is: "text" | "name" | "flag" | "span" | "bytes" | "cpu";
      readonly says: string;
      readonly example: string;
    }
  | {
      readonly is: "count";
      readonly says: string;
      readonly example: string;
      readonly min: number;
      readonly max: number;
    }
  | { readonly is: "choice"; readonly says: string; readonly example: string; readonly of: readonly string[] }
  | { readonly is: "names"; readonly says: string; readonly example: string }
  | { readonly is: "object"; readonly says: string; readonly example: string; readonly fields: FieldTable }
  | { readonly is: "list"; readonly says: string; readonly example: string; readonly fields: FieldTable };

export interface FieldTable {
  readonly known: Readonly<Record<string, Field>>;
  readonly required: readonly string[];
}

const rebootDoors = ["label", "ticket"] as const;

/** Something happens at one instant. */
export const instantFaults = ["kill-daemon", "stop-daemon", "kill-shim", "kill-resident", "cut-power"] as const;
/** It lasts for a time. */
const lastingFaults = [
  "disk-full",
  "disk-slow",
  "disk-error",
  "api-away",
  "api-busy",
  "api-stale",
  "api-expired",
] as const;
/** It lasts, and is of one network. */
export const networkFaults = [
  "network-hangs",
  "network-slow",
  "network-fails",
  "network-half",
  "network-del-fails",
] as const;

export const stormFaults = [...instantFaults, ...lastingFaults, ...networkFaults] as const;
/** Of a scenario with reboots: something happens to a guard at one instant. */
export const guardInstants = ["kill-leader"] as const;
/** It lasts, and is of one node. */
export const guardNodeSpells = ["node-down", "cordon", "daemon-silent"] as const;
/** It lasts, and is of the whole cluster. */
const guardSpells = [
  "alert",
  "alertmanager-away",
  "pause-leader",
  "cut-leader",
  "late-leader",
  "api-away",
  "api-busy",
  "api-slow",
  "api-stale",
  "watches-away",
] as const;
export const guardFaults = [...guardInstants, ...guardNodeSpells, ...guardSpells] as const;

export const scenarioMax = { nodes: 100, pods: 5_000, faults: 1_000 } as const;

const nodeFields: FieldTable = {
  known: {
    name: { is: "name", says: "name of the node; with a count, the names end with -1, -2 …", example: "agent" },
    count: { is: "count", says: "so many nodes of this name", example: "3", min: 1, max: scenarioMax.nodes },
  },
  required: ["name"],
};

const daemonFields: FieldTable = {
  known: {
    limit: { is: "bytes", says: "memory limit of each daemon, 50Mi without it", example: "50Mi" },
    cpu: { is: "cpu", says: "CPU limit of each daemon, none without it", example: "100m" },
    connectionLimit: { is: "count", says: "of Multus 4.3.0, none without it", example: "8", min: 1, max: 10_000 },
  },
  required: [],
};

const podFields: FieldTable = {
  known: {
    name: { is: "name", says: "name of the pods; they end with -1, -2 …", example: "desktop" },
    namespace: { is: "name", says: "their namespace, default without it", example: "fc-desktop" },
    count: { is: "count", says: "how many, 1 without it", example: "219", min: 1, max: scenarioMax.pods },
    nodes: { is: "names", says: "nodes, or names of nodes with a count; all nodes without it", example: "[agent-1]" },
    networks: { is: "names", says: "networks besides the default one", example: "[lan]" },
    critical: { is: "flag", says: "whether they are critical, such as a CSI driver's", example: "true" },
    at: { is: "span", says: "when the first one comes, 0s without it", example: "2s" },
    over: { is: "span", says: "they come evenly within this time, at once without it", example: "30s" },
    deleteAt: { is: "span", says: "when the first one is deleted; they stay without it", example: "60s" },
    deleteOver: { is: "span", says: "they are deleted evenly within this time, at once without it", example: "30s" },
    mayWait: { is: "flag", says: "whether the storm holds without them", example: "true" },
  },
  required: ["name"],
};

const faultFields: FieldTable = {
  known: {
    kind: {
      is: "choice",
      says: "what goes wrong; docs/sim.md explains each",
      example: "network-hangs",
      of: [...new Set<string>([...stormFaults, ...guardFaults])],
    },
    nodes: { is: "names", says: "where; on all nodes without it", example: "[agent-1]" },
    network: {
      is: "name",
      says: "which network, for the kinds that begin with network-; default-net is the default one",
      example: "lan",
    },
    at: { is: "span", says: "when it begins, 0s without it", example: "10s" },
    for: { is: "span", says: "how long it lasts; with every, how long it is repeated", example: "10m" },
    every: { is: "span", says: "repeats something that happens at one instant", example: "2s" },
  },
  required: ["kind"],
};

const rebootFields: FieldTable = {
  known: {
    nodes: { is: "names", says: "which nodes need a reboot; all without it", example: "[worker]" },
    at: { is: "span", says: "when the first one needs it, 0s without it", example: "1m" },
    over: { is: "span", says: "the others follow evenly within this time, at once without it", example: "10m" },
    takes: { is: "span", says: "how long a node is away when it is rebooted, 2m without it", example: "5m" },
    lookEvery: {
      is: "span",
      says: "how often whoever reboots looks at the gate, 5m without it, as kured should",
      example: "1h",
    },
    door: {
      is: "choice",
      says: "where he looks: the label, as kured does, or the ticket on the node; label without it",
      example: "ticket",
      of: rebootDoors,
    },
    atOnce: { is: "count", says: "--gate-at-once of the guard, 1 without it", example: "2", min: 1, max: 100 },
    window: {
      is: "text",
      says: "--reboot-window of the guard, none without it",
      example: "Mon-Fri 02:00-05:00 Europe/Berlin",
    },
    startsAt: {
      is: "text",
      says: "the time at the start in UTC, for the window; a Tuesday at 22:13 without it",
      example: "2026-11-16T01:30:00Z",
    },
    guards: { is: "count", says: "replicas of the guard, 2 without it", example: "3", min: 1, max: 5 },
  },
  required: [],
};

const promiseFields: FieldTable = {
  known: {
    attachedWithin: { is: "span", says: "how long a pod may wait, 3m without it", example: "3m" },
    criticalWithin: { is: "span", says: "how long a critical pod may wait, 3s without it", example: "3s" },
    rebootedWithin: { is: "span", says: "how long a node may wait for its reboot, 24h without it", example: "4h" },
  },
  required: [],
};

/** The shortest whole scenario. */
export const scenarioExample = "{name: a storm, nodes: [{name: agent, count: 3}], pods: [{name: web, count: 219}]}";

/** A whole scenario file. */
export const scenarioFields: FieldTable = {
  known: {
    name: { is: "text", says: "what happens, for the first line of the answer", example: "A rack comes back" },
    implementation: {
      is: "choice",
      says: "what attaches the pods, levee without it; --impl wins over it",
      example: "levee",
      of: implementationNames,
    },
    seed: {
      is: "count",
      says: "seed of chance, 1 without it; --seed wins over it",
      example: "1",
      min: 1,
      max: 999_999_999,
    },
    nodes: { is: "list", says: "the nodes", example: "[{name: agent, count: 3}]", fields: nodeFields },
    daemon: { is: "object", says: "the daemon's container", example: "{limit: 50Mi}", fields: daemonFields },
    networks: { is: "names", says: "networks besides the default one", example: "[lan]" },
    pods: {
      is: "list",
      says: "the pods, and when they come and go",
      example: "[{name: web, count: 219}]",
      fields: podFields,
    },
    reboots: {
      is: "object",
      says: "instead of pods: nodes that need a reboot, and how they get it",
      example: "{nodes: [worker], over: 10m}",
      fields: rebootFields,
    },
    faults: { is: "list", says: "what goes wrong", example: "[{kind: kill-daemon, at: 2s}]", fields: faultFields },
    promises: { is: "object", says: "what must hold", example: "{criticalWithin: 1s}", fields: promiseFields },
  },
  required: ["name", "nodes"],
};
