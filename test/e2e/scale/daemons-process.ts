/**
 * The API side of many daemons in one process: for each node its own client, connections and copy of the cluster, with the
 * daemon's real code. Started by daemon-fleet.ts, which asks it over IPC.
 */
import { readFileSync } from "node:fs";
import { silentLogger } from "../../../src/base/log.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { fixedAccess } from "../../../src/kube/access/access.ts";
import { ApiClient } from "../../../src/kube/client/api-client.ts";
import { ClusterView } from "../../../src/kube/watch/cluster-view.ts";
import type { FleetAnswer, FleetOrder, FleetQuestion, Seen } from "./fleet-words.ts";

const views: ClusterView[] = [];
/** When the daemons saw a network's mark or a pod's, by mark. */
const seen = new Map<string, Seen>();
const marks = /"mark":"([^"]+)"/u;

process.on("message", (message: FleetQuestion) => {
  void answer(message).then((told) => process.send?.({ id: message.id, told }));
});
// Nothing must outlive the test.
process.on("disconnect", () => process.exit(0));

async function answer({ ask, order }: FleetQuestion): Promise<FleetAnswer> {
  if (ask === "start" && order !== undefined) await start(order);
  return { ...health(), seen: Object.fromEntries(seen) };
}

async function start({ server, caFile, token, nodes, atOnce }: FleetOrder): Promise<void> {
  const waiting = [...nodes];
  const tls = { ca: readFileSync(caFile, "utf8") };
  const lane = async (): Promise<void> => {
    for (let nodeName = waiting.shift(); nodeName !== undefined; nodeName = waiting.shift()) {
      const api = new ApiClient({ access: fixedAccess(server, { token, tls }), clock: systemClock });
      const view = new ClusterView({ api, clock: systemClock, logger: silentLogger, nodeName });
      view.onNetworkChange(({ now }) => note(marks.exec(now?.config ?? "")?.[1]));
      view.onPodChange(({ before, now }) => {
        if (before !== undefined && now !== undefined) note("a pod");
      });
      views.push(view);
      while (!view.synced()) await systemClock.sleep(20);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

function note(mark: string | undefined): void {
  if (mark === undefined) return;
  const nowMs = performance.timeOrigin + performance.now();
  const before = seen.get(mark);
  seen.set(mark, { times: (before?.times ?? 0) + 1, firstMs: before?.firstMs ?? nowMs, lastMs: nowMs });
}

function health(): Omit<FleetAnswer, "seen"> {
  const all = views.map((view) => view.health());
  const sum = (of: (one: (typeof all)[number]) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    nodes: all.length,
    pods: sum(({ pods }) => pods.objects),
    networks: sum(({ networks }) => networks.objects),
    lists: sum(({ pods, networks }) => pods.lists + networks.lists),
    reconnects: sum(({ pods, networks }) => pods.reconnects + networks.reconnects),
    missedEvents: sum(({ pods, networks }) => pods.missedEvents + networks.missedEvents),
    failing: sum(
      ({ pods, networks }) => Number(pods.lastError !== undefined) + Number(networks.lastError !== undefined),
    ),
  };
}
