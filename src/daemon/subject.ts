import { podArgs, type CniArgs } from "../cni/cni-args.ts";
import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import type { Subject } from "../base/subject.ts";
import type { AttachmentRecord, RecordedPod } from "../state/attachment-record.ts";

/** Whom a call is about. A call without a pod is filed under its container ID. */
export function subjectOfCall(request: {
  readonly verb: string;
  readonly containerId: string;
  readonly args: CniArgs;
}): Subject {
  const pod = podArgs(request.args);
  return {
    namespace: pod.namespace ?? "",
    name: pod.name ?? request.containerId,
    containerId: request.containerId,
    verb: request.verb,
  };
}

/** Whom a record of the journal is about. */
export function subjectOf(record: Pick<AttachmentRecord, "pod" | "containerId">, verb: string): Subject {
  return { namespace: record.pod.namespace, name: record.pod.name, containerId: record.containerId, verb };
}

/** The pod as the journal keeps it; its parts are empty for a runtime that names none. */
export function recordedPod(args: CniArgs, facts?: { readonly uid: PodUid }): RecordedPod {
  const { namespace, name, uid } = podArgs(args);
  return {
    namespace: namespace ?? ("" as Namespace),
    name: name ?? ("" as PodName),
    uid: uid ?? facts?.uid ?? ("" as PodUid),
  };
}
