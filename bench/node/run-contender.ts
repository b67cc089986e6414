import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { testImages } from "../../scripts/e2e/test-images.ts";
import { makeFolder, removeFolder, runApart } from "../../test/e2e/apart.ts";
import { cniPlugins } from "../../test/peers/cni-plugins.ts";
import { kubernetes } from "../../test/peers/kubernetes.ts";
import { multus } from "../../test/peers/multus.ts";
import type { Surroundings } from "../../test/e2e/the-cluster.ts";
import type { ContenderName } from "./make-contender.ts";
import { orderVariable, type Order } from "./inside.ts";
import type { StormOutcome } from "./storm.ts";

const inside = join(import.meta.dirname, "inside.ts");
/** Logs of the node's programs and containers, and the outcome with its metrics. */
const logFolders = [
  ["logs", "."],
  ["outcome.json", "outcome.json"],
  ["node/var/log/pods", "pods"],
] as const;
const keptLogs = resolve(import.meta.dirname, "../../.cache/bench-node-logs");

export type Programs = Omit<Surroundings, "folder">;

/** The programs of the node, built once, or the reason why they are missing. */
export async function nodePrograms(): Promise<Programs | { readonly missing: string }> {
  const peers = [await kubernetes(), await cniPlugins(), await multus("v4.2.2"), await multus("v4.3.0")];
  for (const peer of peers) if ("missing" in peer) return peer;
  testImages();
  const [k8s = "", plugins = "", older = "", newer = ""] = peers.map((peer) => ("folder" in peer ? peer.folder : ""));
  const versions = { "v4.2.2": older, "v4.3.0": newer };
  return { kubernetes: k8s, plugins, busybox: "/bin/busybox", containerd: "", multus: versions };
}

/** A new node for one contender, in its own folder below `parent`. Nothing of it stays. */
export async function runContender(
  parent: string,
  programs: Programs,
  order: Omit<Order, "file">,
): Promise<StormOutcome> {
  const folder = makeFolder(parent);
  const file = join(folder, "outcome.json");
  try {
    const surroundings: Surroundings = { ...programs, folder };
    const status = await runApart([process.execPath, inside], {
      LEVEE_E2E: JSON.stringify(surroundings),
      [orderVariable]: JSON.stringify({ ...order, file }),
    });
    if (status !== 0)
      throw new Error(`The node of ${order.contender} ended with ${status}; its logs are in ${keptLogs}`);
    return JSON.parse(readFileSync(file, "utf8")) as StormOutcome;
  } finally {
    keepLogs(folder, order.contender);
    removeFolder(folder);
  }
}

/** Keeps the logs, to explain a figure. */
function keepLogs(folder: string, contender: ContenderName): void {
  const kept = join(keptLogs, contender);
  rmSync(kept, { recursive: true, force: true });
  for (const [from, to] of logFolders)
    if (existsSync(join(folder, from)))
      cpSync(join(folder, from), join(kept, to), { recursive: true, filter: (path) => !isOfStorm(path) });
}

/** The pods of the storm log nothing. */
function isOfStorm(path: string): boolean {
  return /\/pods\/(?:storm|edge)_/u.test(path);
}
