import type { DiskTrouble } from "../disk/sim-files.ts";
import type { PluginTemper } from "../node/sim-plugins.ts";
import type { SimWorld } from "./sim-world.ts";
import type { StoryFault } from "./story.ts";

const slowSyncMs = 3_000;
const usualSyncMs = 8;
const slowAnswerMs = 4_000;
const usualAnswerMs = 12;
const slowCostMs = 9_000;
const usualCostMs = 60;

/** Begins a fault now. One that lasts ends by itself. */
export function beginFault(world: SimWorld, nodeName: string, fault: StoryFault): void {
  const found = world.nodes.get(nodeName);
  if (found === undefined) return;
  found.node.say({ kind: "fault", what: JSON.stringify(fault) });
  switch (fault.kind) {
    case "kill-daemon":
      return found.daemon.kill();
    case "stop-daemon":
      return void found.daemon.stop();
    case "kill-shim":
      return killShim(world, nodeName);
    case "kill-resident":
      return world.killResident(nodeName);
    case "cut-power":
      return world.cutPower(nodeName);
    default:
      turn(world, nodeName, fault, true);
      world.time.after(fault.forMs, () => turn(world, nodeName, fault, false));
  }
}

/** Ends everything that lasts. */
export function calm(world: SimWorld): void {
  for (const { node } of world.nodes.values()) {
    node.plugins.calmAll();
    for (const [, off] of Object.values(diskFaults)) Object.assign(node.files.trouble, off);
  }
  Object.assign(world.api.trouble, { isAway: false, busyShare: 0, lagMs: 0, answerMsMax: usualAnswerMs });
  world.api.wake();
}

function killShim(world: SimWorld, nodeName: string): void {
  const found = world.nodes.get(nodeName);
  const shims = [...(found?.runtime.shims ?? [])];
  shims[found?.node.seeded.whole(0, Math.max(0, shims.length - 1)) ?? 0]?.kill();
}

type LastingFault = Extract<StoryFault, { forMs: number }>;

/** What each fault of the disk changes, and what is there without it. */
const diskFaults: Readonly<Record<string, readonly [on: Partial<DiskTrouble>, off: Partial<DiskTrouble>]>> = {
  "disk-full": [{ leftBytes: 0 }, { leftBytes: undefined }],
  "disk-slow": [{ syncMsMax: slowSyncMs }, { syncMsMax: usualSyncMs }],
  "disk-error": [{ syncError: "EIO" }, { syncError: undefined }],
  "disk-lies": [{ isLying: true }, { isLying: false }],
};

function turn(world: SimWorld, nodeName: string, fault: LastingFault, isOn: boolean): void {
  const files = world.nodes.get(nodeName)?.node.files.trouble;
  const [on, off] = diskFaults[fault.kind] ?? [];
  if ("network" in fault) Object.assign(temperOf(world, nodeName, fault.network), isOn ? tempers[fault.kind] : gentle);
  else if (files !== undefined && on !== undefined) Object.assign(files, isOn ? on : off);
  else turnApi(world, fault.kind, isOn);
}

function turnApi({ api }: SimWorld, kind: LastingFault["kind"], isOn: boolean): void {
  if (kind === "api-away") api.trouble.isAway = isOn;
  if (kind === "api-busy") api.trouble.busyShare = isOn ? 0.7 : 0;
  if (kind === "api-stale") api.trouble.lagMs = isOn ? 4_000 : 0;
  if (kind === "api-slow") api.trouble.answerMsMax = isOn ? slowAnswerMs : usualAnswerMs;
  if (kind === "api-expired" && isOn) api.compact();
  api.wake();
}

const gentle: Omit<PluginTemper, "costMs"> & { costMs: number } = {
  costMs: usualCostMs,
  failShare: 0,
  halfDoneShare: 0,
  hangs: false,
  delFails: false,
};

const tempers: Readonly<Record<string, Partial<PluginTemper>>> = {
  "network-hangs": { hangs: true },
  "network-fails": { failShare: 0.6 },
  "network-half": { halfDoneShare: 0.6 },
  "network-del-fails": { delFails: true },
  "network-slow": { costMs: slowCostMs },
};

function temperOf(world: SimWorld, nodeName: string, network: string): PluginTemper {
  const plugins = world.nodes.get(nodeName)?.node.plugins;
  return plugins?.temperOf(network) ?? { ...gentle };
}
