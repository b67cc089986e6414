import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { parseResult } from "../../cni/result.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/**
 * Whether the kernel must show an interface by the chain's name. It shows none for a device that belongs to a program in
 * the pod, as with DPDK and virtual machines, or for a plugin that reports no interface inside the sandbox.
 */
export function isKernelInterface(chain: Chain, record: AttachmentRecord, index: number): boolean {
  const { deviceId, resourceName } = chain.multus.request;
  const result = record.results[index];
  if (result === undefined || deviceId !== undefined || resourceName !== undefined) return false;
  try {
    const { interfaces } = parseResult(result, chain.cniVersion);
    return interfaces.some(({ name, sandbox }) => name === chain.ifname && sandbox !== undefined && sandbox !== "");
  } catch (thrown) {
    // ADD checks results, but a result that Multus left may hold anything.
    if (thrown instanceof LeveeError) return false;
    throw thrown;
  }
}
