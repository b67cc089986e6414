import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import type { Subject } from "../../base/subject.ts";
import type { AttachmentRecord, RecordedPod } from "../../state/journal/attachment-record.ts";

/** The subject of a call. A call without a pod is filed under its container ID. */
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

export function subjectOf(record: Pick<AttachmentRecord, "pod" | "containerId">, verb: string): Subject {
  return { namespace: record.pod.namespace, name: record.pod.name, containerId: record.containerId, verb };
}

/** The pod as the journal keeps it; its parts are empty when the runtime names no pod. */
export function recordedPod(args: CniArgs, facts?: RecordedPod): RecordedPod {
  const { namespace, name, uid } = podArgs(args);
  return {
    namespace: shared(namespace, facts?.namespace) ?? ("" as Namespace),
    name: shared(name, facts?.name) ?? ("" as PodName),
    uid: shared(uid, facts?.uid) ?? facts?.uid ?? ("" as PodUid),
  };
}

/** Prefers the text that is kept anyway: a slice of CNI_ARGS would keep the whole string in memory. */
function shared<Text extends string>(text: Text | undefined, kept: Text | undefined): Text | undefined {
  return text === kept ? kept : text;
}
