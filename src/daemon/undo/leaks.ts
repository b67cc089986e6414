import type { LeakEntry } from "../../state/journal/leak-ledger.ts";
import type { NodePorts } from "../node-ports.ts";

type LeakPorts = Pick<NodePorts, "journal" | "logger" | "announcer">;

/** Writes down what could not be undone, and tells: whoever wonders where an address went finds it on the pod and the node. */
export async function keepLeak(leak: LeakEntry, { journal, logger, announcer }: LeakPorts): Promise<void> {
  await journal.leak(leak);
  const networks = leak.chains.map((chain) => `${chain.network} (${chain.ifname})`).join(", ");
  logger.error("Something could not be undone and is kept in the leak ledger", {
    container: leak.containerId,
    networks,
    reason: leak.reason,
  });
  const what = networks === "" ? `an attachment of container ${leak.containerId}` : networks;
  const message = `Could not undo ${what}: ${leak.reason}; it is tried again, see levee leaks`;
  const { pod } = leak;
  if (pod !== undefined && pod.name !== "")
    announcer.aboutPod(pod, { type: "Warning", reason: "NetworkLeaked", message });
  else announcer.aboutNode({ type: "Warning", reason: "NetworkLeaked", message });
}
