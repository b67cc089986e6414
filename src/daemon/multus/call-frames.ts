import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetnsPath } from "../../base/brand.ts";
import { encodeFrame, protocolVersion, protocolVersionMin, type OutgoingField } from "../../wire/frame.ts";
import { lookAtNetns } from "../undo/netns-to-pass.ts";
import type { MultusRequest } from "./multus-request.ts";

/** The two frames of a call, as they are sent. */
export interface CallFrames {
  readonly call: Uint8Array;
  readonly config: Uint8Array;
  readonly budgetMs: number;
}

type Budgets = Pick<DaemonConfig, "addBudgetMs" | "delBudgetMs">;

/** The names of more links are not sent, as by a shim. */
const linksMax = 1_000;
const statusBudgetMs = 10_000;

/** What a shim would say of this call. The resident hand looks at the namespace; without one nobody does. */
export async function callFrames(
  request: MultusRequest,
  resident: Hand | undefined,
  config: Budgets,
): Promise<CallFrames> {
  const { call, mayBeOwnNetns } = request;
  const bytes = Buffer.from(request.config);
  const budgetMs = budgetOf(call.verb, config);
  const fields: OutgoingField[] = [
    ["version_min", protocolVersionMin],
    ["verb", call.verb],
    ["container_id", call.containerId],
    ["netns", call.netns],
    ["ifname", call.ifname],
    ["cni_args", call.cniArgs],
    ["cni_path", call.cniPath],
    ...(resident === undefined ? nobody : [...introduced(resident), ...(await lookedAt(request, resident))]),
    ["netns_override", mayBeOwnNetns ? true : undefined],
    ["config_length", bytes.length],
    ["budget_ms", budgetMs],
  ];
  return { call: encodeFrame("CALL", fields), config: encodeFrame("CONFIG", [["config", bytes]]), budgetMs };
}

/** For a call that is only kept. */
const nobody: readonly OutgoingField[] = [
  ["version_max", protocolVersion],
  ["pid", 0],
  ["pid_start", 0],
];

function introduced({ version, identity }: Hand): readonly OutgoingField[] {
  return [
    ["version_max", version],
    ["software", identity.software],
    ["pid", identity.pid],
    ["pid_start", identity.pidStart],
    ["pid_namespace", identity.pidNamespace],
  ];
}

async function lookedAt({ call }: MultusRequest, resident: Hand): Promise<readonly OutgoingField[]> {
  if (call.netns === "") return [];
  const { identity } = await lookAtNetns(resident, call.netns);
  if (identity === undefined) return [];
  const own = (await resident.stat(["/proc/self/ns/net"]))[0];
  const hasLinks = call.verb === "ADD" && resident.supports("links");
  // The path was checked with the rest of the call.
  const links = hasLinks ? await resident.links(call.netns as NetnsPath) : undefined;
  const names = links === undefined || links.isTruncated || links.names.length > linksMax ? [] : links.names;
  return [
    ["netns_dev", identity.device],
    ["netns_ino", identity.inode],
    ["netns_cookie", identity.cookie],
    ["netns_ctime", identity.ctimeNs],
    ...names.map((name): OutgoingField => ["link", name]),
    ["own_netns_dev", own?.device],
    ["own_netns_ino", own?.inode],
  ];
}

/** `multus-shim` waits for ever. These are the limits of our own shim. */
function budgetOf(verb: string, { addBudgetMs, delBudgetMs }: Budgets): number {
  if (verb === "DEL") return delBudgetMs;
  return verb === "STATUS" ? Math.min(addBudgetMs, statusBudgetMs) : addBudgetMs;
}
