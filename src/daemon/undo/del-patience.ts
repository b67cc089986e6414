import type { Admission } from "../../admission/admission.ts";
import { nodeNetworks } from "../../admission/request.ts";
import { LeveeError } from "../../base/errors.ts";
import { needsNetns } from "../../cni/needs-netns.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { closingMs } from "../../config/time-budgets.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { networksOf } from "../chains/chain-reports.ts";

/** Plugins get at least this much of a DEL's time, and this many times their usual time. */
const pluginsMsMin = 10_000;
const usualTimes = 3;

interface PatienceNeeds {
  readonly config: Pick<DaemonConfig, "delDelegatesMs" | "delQueueMs">;
  readonly admission: Pick<Admission, "usualMs">;
}

/** How long a DEL may wait in line: as long as its shim does, less the time that its plugins will need. */
export function delPatience(leftMs: number, record: AttachmentRecord | undefined, needs: PatienceNeeds): number {
  const { config, admission } = needs;
  const networks = record === undefined ? [nodeNetworks] : networksOf(record);
  const usualMs = networks.reduce((sum, network) => sum + admission.usualMs(network, "detach"), 0);
  const wantedMs = Math.max(pluginsMsMin, usualTimes * usualMs);
  // A site can set a budget that is too short for that.
  const pluginsMs = Math.min(wantedMs, config.delDelegatesMs, leftMs / 2);
  return Math.round(Math.max(1, Math.min(config.delQueueMs, leftMs - closingMs - pluginsMs)));
}

/**
 * The error of a DEL whose namespace lives and that cannot be served now. The shim would store it on disk and promise it
 * to the runtime, which then removes the namespace. If a plugin may need that, the runtime gets the error and retries.
 */
export function unlessPromised(thrown: unknown, record: AttachmentRecord): unknown {
  if (!(thrown instanceof LeveeError) || thrown.code !== "try-later") return thrown;
  const chain = record.chains.find(needsNetns);
  if (chain === undefined) return thrown;
  const why = `its plugins may need the network namespace (${chain.network}), so it is not put off and the runtime retries`;
  return new LeveeError("delete-later", `${thrown.message}; ${why}`, { cause: thrown });
}
