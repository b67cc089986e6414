/**
 * The process whose memory is measured: the guard's view of a cluster, and a few rounds of detection. Prints one JSON line
 * and ends; with `stay`, prints one a second until it is told to end. Started by guard-memory.ts.
 */
import { readFileSync } from "node:fs";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { propose } from "../../../src/guard/decide/propose.ts";
import { defaultGuardSettings as settings } from "../../../src/guard/facts/guard-settings.ts";
import { ClusterFacts } from "../../../src/guard/observe/cluster-facts.ts";
import { fixedAccess } from "../../../src/kube/access/access.ts";
import { ApiClient } from "../../../src/kube/client/api-client.ts";
import type { FollowableApi } from "../../../src/kube/client/api.ts";

const [url = "", token = "", how = ""] = process.argv.slice(2);
const client = new ApiClient({
  access: fixedAccess(url, { token, tls: { rejectUnauthorized: false } }),
  clock: systemClock,
});
let requests = 0;
const api: FollowableApi = {
  call(request) {
    requests += 1;
    return client.call(request);
  },
  lines(path, options) {
    requests += 1;
    return client.lines(path, options);
  },
  items(path, options, onItem) {
    requests += 1;
    return client.items(path, options, onItem);
  },
};
const startedMs = performance.now();
const facts = new ClusterFacts({
  api,
  clock: systemClock,
  logger: silentLogger,
  settings,
  sources: { alerts: () => [], nodeViews: () => [], memoryCalms: () => undefined, gitFiles: () => [], notes: () => [] },
});
while (!facts.synced()) await systemClock.sleep(20);
const syncedMs = Math.round(performance.now() - startedMs);
do {
  // The collector runs when it likes; the guard's idle minutes are seconds here.
  await systemClock.sleep(how === "stay" ? 1_000 : 5_000);
  const roundStartedMs = performance.now();
  const proposals = propose({ ...facts.world(), nowMs: systemClock.wallMs() + 600_000 }, settings).length;
  const roundMs = Math.round(performance.now() - roundStartedMs);
  const pods = facts.health().find(({ resource }) => resource === "pods")?.objects ?? 0;
  console.log(JSON.stringify({ pods, syncedMs, requests, proposals, roundMs, ...memory() }));
} while (how === "stay");
process.exit(0);

function memory(): { rssMib: number; peakMib: number } {
  const status = readFileSync("/proc/self/status", "utf8");
  const mib = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) / 1024);
  return { rssMib: mib("VmRSS"), peakMib: mib("VmHWM") };
}
