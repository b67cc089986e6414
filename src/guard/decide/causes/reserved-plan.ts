import type { AskedItem } from "../../decision/asked-item.ts";
import type { HeldName, ReservedNames } from "../../detect/reserved-names.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { timeText } from "../../json-values.ts";
import { evidenceOf } from "../evidence.ts";
import { kubectl } from "../kubectl-lines.ts";
import { followedStep } from "../verify-step.ts";
import { askStep } from "./ask-step.ts";
import type { PlanContent, SeenCause } from "./make-proposal.ts";

/** Time to log in to several nodes. */
const askSeconds = 3_600;
/** The API server's form of a UID; the line goes into a root shell on a node. */
const uidForm = /^[-0-9A-Za-z]{1,64}$/;

/** Which sandboxes have the names, on which nodes, and the lines that remove them. The removal is a person's. */
export function reservedPlan(seen: SeenCause<ReservedNames>): PlanContent | undefined {
  const { cause, chain } = seen;
  const { members, held, nodes, sinceMs } = cause;
  const items = members.flatMap((pod) => itemOf(pod, held.get(pod.uid)));
  if (items.length === 0) return undefined;
  const names = [...nodes.keys()];
  return {
    purpose: "ByHand",
    drafts: [
      askStep({
        about: "SandboxNames",
        title: `Wait until a person has removed the sandboxes of ${members.length} pods on ${nodes.size === 1 ? names[0] : `${nodes.size} nodes`}`,
        items,
        kubectl: names
          .slice(0, 4)
          .map((node) => kubectl("get", "pods", "-A", `--field-selector=spec.nodeName=${node}`)),
        done: "None of these pods is kept by its sandbox any more",
        deadlineSeconds: askSeconds,
      }),
      ...followedStep(sinceMs, chain.linked),
    ],
    notes: [
      "Repair the CNI plugin's DEL first: while it fails, crictl fails too, and once it works the kubelet removes these sandboxes by itself within a minute or two",
      "The lines are for root on the node. Each removes only sandboxes of that pod that do not run; nothing of them is left in the cluster",
      "If crictl does not show one, an ADD of it still hangs: systemctl restart containerd on that node ends it, and running containers go on. The last way is a reboot, which frees all names",
      "The CNI's DEL of these sandboxes fails, so addresses of theirs may stay taken: levee leaks, or the IPAM plugin's own tool, shows them",
    ],
    story: [
      `, as the kubelet has said since ${timeText(sinceMs)}`,
      "A sandbox cannot be removed while the CNI plugin's DEL fails or its ADD hangs, and its name stays taken",
    ],
    evidence: evidenceOf([["pods that a sandbox keeps from starting or ending", members.length]], seen),
  };
}

function itemOf(pod: ClusterPod, held: HeldName | undefined): readonly AskedItem[] {
  const { namespace, name, uid, node } = pod;
  if (held === undefined || !uidForm.test(uid)) return [];
  const sandbox = held.sandbox === "" ? "an unnamed sandbox" : `sandbox ${held.sandbox.slice(0, 13)}`;
  return [
    {
      object: `Pod/${namespace}/${name}`,
      node,
      uid,
      what: whatOf(held, sandbox),
      since: timeText(held.sinceMs),
      line: crictlLine(uid),
    },
  ];
}

function whatOf({ why, count }: HeldName, sandbox: string): string {
  switch (why) {
    case "Name":
      return `its name is reserved for ${sandbox}; refused ${count} times`;
    case "Change":
      return `it needs a new sandbox, and the old one cannot be removed; tried ${count} times`;
    case "Removal":
      return `it is being deleted, and ${sandbox} cannot be removed; tried ${count} times`;
  }
}

/** By the pod's UID and only those that do not run, and not by the ID in an event: any writer of events can claim that. */
function crictlLine(uid: string): string {
  const list = `crictl pods --quiet --state notready --label io.kubernetes.pod.uid=${uid}`;
  return `for id in $(${list}); do crictl stopp "$id"; crictl rmp --force "$id"; done`;
}
