import { nodeNetworks, type AdmissionRequest } from "../../admission/request.ts";
import type { AddRequest } from "../../cni/verb.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { networksOf } from "../chains/chain-reports.ts";
import type { PodRequest } from "../look-up/pod-request.ts";
import { subjectOf, subjectOfCall } from "../record/subject.ts";
import type { PodAccount } from "./pod-account.ts";

/** The networks of most pods. They share one array while they wait. */
const nodeNetworksOnly: readonly string[] = [nodeNetworks];

/** Keyed by the definitions, which pods with the same wishes share. */
const networkNames = new WeakMap<PodRequest["definitions"], readonly string[]>();

export function admissionOfAdd(request: AddRequest, wanted: PodRequest, account: PodAccount): AdmissionRequest {
  const subject = subjectOfCall(request);
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

function namesOf({ definitions }: PodRequest): readonly string[] {
  if (definitions.size === 0) return nodeNetworksOnly;
  const known = networkNames.get(definitions);
  if (known !== undefined) return known;
  const names = [nodeNetworks, ...definitions.keys()];
  networkNames.set(definitions, names);
  return names;
}
