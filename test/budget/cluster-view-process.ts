/**
 * The process whose memory is measured: a view of an empty cluster, then one of a full one. Prints the memory of both in
 * KiB as one JSON line. Started by cluster-view-memory.test.ts with the JIT off, as the daemon is.
 */
import { readFileSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { fixedAccess } from "../../src/kube/access/access.ts";
import { ApiClient } from "../../src/kube/client/api-client.ts";
import { ClusterView } from "../../src/kube/watch/cluster-view.ts";

const [server = ""] = process.argv.slice(2);
const empty = await measure(`${server}/empty`);
const full = await measure(`${server}/full`);
console.log(JSON.stringify({ empty, full }));
process.exit(0);

async function measure(url: string): Promise<unknown> {
  const api = new ApiClient({ access: fixedAccess(url), clock: systemClock });
  const view = new ClusterView({ api, clock: systemClock, logger: silentLogger, nodeName: "node-1" });
  while (!view.synced()) await systemClock.sleep(10);
  // The collector runs when it likes; in the daemon's idle minutes it has run.
  await systemClock.sleep(1000);
  Bun.gc(true);
  await systemClock.sleep(1000);
  const { pods, networks } = view.health();
  const facts = { pods: pods.objects, networks: networks.objects, ...memory() };
  await view.close();
  api.close();
  return facts;
}

function memory(): { rssKib: number; anonymousKib: number; peakKib: number } {
  const rollup = readFileSync("/proc/self/smaps_rollup", "utf8");
  const status = readFileSync("/proc/self/status", "utf8");
  return { rssKib: field(rollup, "Rss"), anonymousKib: field(rollup, "Anonymous"), peakKib: field(status, "VmHWM") };
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? Number.NaN);
}
