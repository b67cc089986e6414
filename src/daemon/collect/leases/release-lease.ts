import { join } from "node:path";
import type { ContainerId, PluginType } from "../../../base/brand.ts";
import { deadline, type Clock } from "../../../base/clock.ts";
import { LeveeError } from "../../../base/errors.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import { explainOutcome } from "../../../hands/explain-outcome.ts";
import type { Hand } from "../../../hands/hand.ts";
import { pluginPath } from "../../health/ask-network.ts";
import type { Turns } from "../../serve/turns.ts";
import { readHostFolder } from "../../../hands/host-folder.ts";
import { hostLocalConf, type LeaseConfNeeds } from "./lease-conf.ts";
import { leaseOf, type Lease } from "../../../hands/lease.ts";
import { leaseKey } from "./leases.ts";

/** host-local takes a lock and unlinks a file; a longer run waits for a lost lock. */
const releaseMsMax = 10_000;
const turnMsMax = 1_000;
const holder = { verb: "GC", cancel: (): void => undefined };

type ReleaseNeeds = LeaseConfNeeds & {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "binDir">;
  readonly turns: Turns;
};

/** Has host-local free one address under its own lock, then checks that the file is gone. */
export async function releaseLease(hand: Hand, lease: Lease, needs: ReleaseNeeds): Promise<void> {
  const containerId = lease.containerId as ContainerId; // matched the pattern of one when the file was read
  const late = (): LeveeError => new LeveeError("try-later", "Another operation holds the container");
  using limit = deadline(needs.clock, turnMsMax, late);
  using _turn = await needs.turns.take(containerId, holder, limit.signal);
  if (needs.journal.all().some((record) => record.containerId === containerId))
    throw new LeveeError("try-later", "The container has been attached meanwhile");
  const outcome = await hand.run({
    plugin: "host-local" as PluginType, // a name, not a path
    env: {
      CNI_COMMAND: "DEL",
      CNI_CONTAINERID: containerId,
      CNI_NETNS: "",
      CNI_IFNAME: ifnameOf(lease),
      CNI_ARGS: "",
      CNI_PATH: pluginPath(hand, needs.config.binDir),
    },
    stdin: hostLocalConf(lease, needs),
    timeoutMs: releaseMsMax,
  });
  const context = { verb: "DEL", network: lease.network, ifname: ifnameOf(lease), plugin: "host-local" };
  const error = explainOutcome(outcome, { ...context, timeoutMs: releaseMsMax });
  if (error !== undefined) throw error;
  await requireGone(hand, lease);
}

/** Files of old versions name no interface; host-local frees those by the container alone, but still requires a name. */
function ifnameOf(lease: Lease): string {
  return lease.ifname === "" ? "eth0" : lease.ifname;
}

/** host-local succeeds when it finds nothing to free, so a wrong folder would go unnoticed. */
async function requireGone(hand: Hand, lease: Lease): Promise<void> {
  const folder = join(lease.dataDir, lease.network);
  const left = await readHostFolder(hand, folder, (file) => leaseOf(file, lease));
  if (left?.some((other) => leaseKey(other) === leaseKey(lease)) !== true) return;
  throw new LeveeError("delegate-failed", `host-local freed nothing: ${join(folder, lease.address)} is still there`);
}
