import type { AdmissionRequest } from "../../admission/request.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { PodRequest } from "../look-up/networks.ts";
import type { PodAccount } from "./pod-account.ts";
import { nodeNetworks } from "../look-up/node-networks.ts";
import { subjectOf, subjectOfCall } from "../record/subject.ts";

/** What most pods ask for, shared by all of them while they wait. */
const nodeNetworksOnly: readonly string[] = [nodeNetworks];

/** By the definitions themselves, which pods with the same wishes share. */
const networkNames = new WeakMap<PodRequest["definitions"], readonly string[]>();

interface CallOfPod {
  readonly containerId: string;
  readonly ifname: string;
  readonly args: CniArgs;
}

export function admissionOfAdd(
  call: CallOfPod & { readonly verb: string },
  wanted: PodRequest,
  account: PodAccount,
): AdmissionRequest {
  const subject = subjectOfCall(call);
  return {
    subject,
    kind: "attach",
    namespace: subject.namespace,
    pod: account.key,
    priority: wanted.pod?.priority,
    networks: namesOf(wanted),
    wants: account.wants,
  };
}

/** An ADD that was under way when the last daemon ended. */
export function admissionOfResume(record: AttachmentRecord, account: PodAccount): AdmissionRequest {
  return {
    subject: subjectOf(record, "ADD"),
    kind: "attach",
    namespace: record.pod.namespace,
    pod: account.key,
    priority: undefined,
    networks: networksOf(record),
    wants: account.wants,
    isResumed: true,
  };
}

export function admissionOfDel(call: CallOfPod, record: AttachmentRecord | undefined): AdmissionRequest {
  return {
    kind: "detach",
    subject: subjectOfCall({ ...call, verb: "DEL" }),
    namespace: podArgs(call.args).namespace ?? record?.pod.namespace ?? "",
    pod: record?.pod.uid ?? call.containerId,
    priority: undefined,
    networks: record === undefined ? [] : networksOf(record),
  };
}

/** It takes a slot as an ADD does, but answers for no pod: a queued ADD of the same pod must not give way to it. */
export function admissionOfCheck(call: CallOfPod): AdmissionRequest {
  const namespace = podArgs(call.args).namespace ?? "";
  return { kind: "attach", namespace, pod: "", priority: undefined, networks: [] };
}

function namesOf({ definitions }: PodRequest): readonly string[] {
  if (definitions.size === 0) return nodeNetworksOnly;
  const known = networkNames.get(definitions);
  if (known !== undefined) return known;
  const names = [nodeNetworks, ...definitions.keys()];
  networkNames.set(definitions, names);
  return names;
}

function networksOf({ chains }: AttachmentRecord): readonly string[] {
  return [nodeNetworks, ...chains.filter(({ isDefault }) => !isDefault).map(({ network }) => network)];
}
