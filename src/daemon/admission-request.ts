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
    pod: podKey(call),
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
    pod: keyOf(record.pod) ?? `${record.containerId}/${record.ifname}`,
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
    pod: podKey(call),
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

/** By which admission knows a pod. */
export function keyOf(pod: {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}): string | undefined {
  if (pod.uid !== undefined && pod.uid !== "") return pod.uid;
  return pod.name === undefined || pod.name === "" ? undefined : `${pod.namespace ?? ""}/${pod.name}`;
}

function podKey(call: CallOfPod): string {
  return keyOf(podArgs(call.args)) ?? `${call.containerId}/${call.ifname}`;
}

function networksOf({ chains }: AttachmentRecord): readonly string[] {
  return [nodeNetworks, ...chains.filter(({ isDefault }) => !isDefault).map(({ network }) => network)];
}

function wantsOf({ pod, definitions }: PodRequest): string {
  return JSON.stringify([pod?.annotations, [...definitions.values()].map(({ config }) => config)]);
}
