import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import { toLeveeError } from "../../base/errors.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { leakOf, unknownLeak, type UnknownFacts } from "../../state/journal/leak-ledger.ts";
import { hasMultusFile, readMultusRecord } from "../../state/multus/multus-cache.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { dismantle, type NetnsNow } from "./undo-chains.ts";
import { requestOf, resolveNetworks } from "../look-up/networks.ts";
import { keepLeak } from "./leaks.ts";
import type { NodePorts } from "../node-ports.ts";
import { withIdentity } from "./undo.ts";
import { recordedPod, subjectOfCall } from "../record/subject.ts";

/** A DEL for which the journal has no record. */
export interface UnknownDelete {
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly args: CniArgs;
  readonly cniPath: string;
  readonly now: NetnsNow;
  /** The call's configuration, asked for only when the networks must be worked out again. */
  readonly config: () => Promise<JsonText>;
  /** Who counts what the plugins do; nobody for work that belongs to no call. */
  readonly reports?: ChainReports;
}

/**
 * Never added: success at once. If the journal was damaged that cannot be told, so the record is looked for in Multus'
 * cache, then worked out again from the pod and its networks, and if all that fails the loss is written down.
 * The same for a container that Multus attached after its cache was taken over: on a node that went back and came again.
 */
export async function deleteUnknown(hand: Hand, request: UnknownDelete, ports: NodePorts): Promise<void> {
  if (!(await mayBeThere(request, ports))) {
    await ports.offline.dropDelete(request.containerId, request.ifname);
    ports.timeline.note(subjectOfCall({ ...request, verb: "DEL" }), "finished", { detail: "nothing to undo" });
    return;
  }
  const record = (await fromMultus(request, ports)) ?? (await workOut(request, ports));
  const failures =
    record === undefined
      ? []
      : await dismantle(hand, record, request.now, {
          ports,
          limitMs: ports.config.delDelegatesMs,
          verb: "DEL",
          reports: request.reports,
        });
  if (record === undefined) {
    const reason = "the journal lost its record, and neither Multus' cache nor the pod is there to work it out from";
    await keepLeak(unknownLeak(request, { ...factsOf(request, ports), reason }, ports.clock), ports);
  } else {
    for (const { index, error } of failures) {
      const seen = withIdentity(record, request.now, ports.bootId);
      await keepLeak(leakOf(seen, [index], error.message, ports.clock), ports);
    }
    await ports.mirror.remove(record);
  }
  await ports.journal.forget(request.containerId);
  await ports.offline.dropDelete(request.containerId, request.ifname);
}

/**
 * Multus' files hold a copy of what we attached, too: of a container that lives with another interface they say nothing
 * about this one.
 */
async function mayBeThere({ containerId, ifname }: UnknownDelete, ports: NodePorts): Promise<boolean> {
  const knowledge = ports.journal.knows(containerId);
  if (knowledge !== "never-added") return knowledge === "lost";
  const { cniDir } = ports.config;
  if (!(await hasMultusFile(cniDir, containerId))) return false;
  // One that cannot be read may be anybody's.
  const record = await readMultusRecord(cniDir, containerId).catch(() => undefined);
  return record === undefined || record.ifname === ifname;
}

/** Multus' files hold what Multus attached, and a copy of what we did. */
async function fromMultus(request: UnknownDelete, ports: NodePorts): Promise<AttachmentRecord | undefined> {
  try {
    const record = await readMultusRecord(ports.config.cniDir, request.containerId);
    return record?.ifname === request.ifname ? record : undefined;
  } catch (thrown) {
    ports.logger.warn("Multus' cache cannot be asked for a lost record", {
      container: request.containerId,
      reason: toLeveeError(thrown, "Reading").message,
    });
    return undefined;
  }
}

/** The plan as ADD would make it today, if pod and networks are still there. */
async function workOut(request: UnknownDelete, ports: NodePorts): Promise<AttachmentRecord | undefined> {
  const { namespace: podNamespace, name: podName, uid: podUid } = podArgs(request.args);
  try {
    const pod =
      podNamespace === undefined || podName === undefined ? undefined : await ports.view.findPod(podNamespace, podName);
    const isSamePod = pod !== undefined && (podUid === undefined || pod.uid === "" || pod.uid === podUid);
    if (podName !== undefined && !isSamePod) return undefined;
    const conf = effectiveNetConf(await request.config(), ports.config);
    const networks = await resolveNetworks(await requestOf(pod, ports.view), conf, ports);
    const chains = planAttachments({ request, ...networks, runtimeConfig: conf.runtimeConfig });
    return recordFor(request, chains, conf.cniVersion);
  } catch (thrown) {
    ports.logger.warn("A lost record could not be worked out again", {
      container: request.containerId,
      reason: toLeveeError(thrown, "Rebuild").message,
    });
    return undefined;
  }
}

function recordFor(request: UnknownDelete, chains: readonly Chain[], cniVersion: string): AttachmentRecord {
  return {
    token: "",
    containerId: request.containerId,
    ifname: request.ifname,
    netns: { path: request.now.path, identity: undefined },
    bootId: "",
    pod: recordedPod(request.args),
    cniPath: request.cniPath,
    cniVersion,
    hand: undefined,
    startedWallMs: 0,
    chains,
    phase: "acknowledged",
    steps: new Map(),
    results: [],
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}

function factsOf(request: UnknownDelete, ports: NodePorts): Omit<UnknownFacts, "reason"> {
  return { pod: recordedPod(request.args), netns: request.now, cniPath: request.cniPath, bootId: ports.bootId };
}
