import type { AdmissionRequest } from "../admission/request.ts";
import { podArgs, type CniArgs } from "../cni/cni-args.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import type { PodRequest } from "./networks.ts";

/**
 * The node's own networks under one name: which they are stands in the configuration, and the shim keeps that until
 * the call has its slot.
 */
export const nodeNetworks = "(node)";

interface CallOfPod {
  readonly containerId: string;
  readonly ifname: string;
  readonly args: CniArgs;
}

export function admissionOfAdd(call: CallOfPod, wanted: PodRequest): AdmissionRequest {
  return {
    kind: "attach",
    namespace: podArgs(call.args).namespace ?? "",
    pod: podKey(call, podArgs(call.args).uid ?? wanted.pod?.uid),
    priority: wanted.pod?.priority,
    networks: [nodeNetworks, ...wanted.definitions.keys()],
    wants: () => wantsOf(wanted),
  };
}

/** An ADD that was under way when the last daemon ended. */
export function admissionOfResume(record: AttachmentRecord): AdmissionRequest {
  return {
    kind: "attach",
    namespace: record.pod.namespace,
    pod: podKey(record, record.pod.uid),
    priority: undefined,
    networks: networksOf(record),
    wants: () => "",
    isResumed: true,
  };
}

export function admissionOfDel(call: CallOfPod, record: AttachmentRecord | undefined): AdmissionRequest {
  return {
    kind: "detach",
    namespace: podArgs(call.args).namespace ?? record?.pod.namespace ?? "",
    pod: podKey(call, record?.pod.uid),
    priority: undefined,
    networks: record === undefined ? [] : networksOf(record),
    wants: () => "",
  };
}

/** It takes a slot as an ADD does, but answers for no pod: a queued ADD of the same pod must not give way to it. */
export function admissionOfCheck(call: CallOfPod): AdmissionRequest {
  const namespace = podArgs(call.args).namespace ?? "";
  return { kind: "attach", namespace, pod: "", priority: undefined, networks: [], wants: () => "" };
}

/**
 * By which admission knows a pod: its UID. Without one nobody can tell whether two sandboxes are of one pod, so each
 * is its own.
 */
function podKey(call: Pick<CallOfPod, "containerId" | "ifname">, uid: string | undefined): string {
  return uid === undefined || uid === "" ? `${call.containerId}/${call.ifname}` : uid;
}

function networksOf({ chains }: AttachmentRecord): readonly string[] {
  return [nodeNetworks, ...chains.filter(({ isDefault }) => !isDefault).map(({ network }) => network)];
}

function wantsOf({ pod, definitions }: PodRequest): string {
  return JSON.stringify([pod?.annotations, [...definitions.values()].map(({ config }) => config)]);
}
