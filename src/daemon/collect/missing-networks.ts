import { defaultNetworkOf, networkNameOf, parseSelection } from "../../attachment/selection.ts";
import type { Namespace } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { NetnsLinks } from "../../wire/netns-links.ts";
import { networkStatusAnnotation, networksAnnotation } from "../../base/annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import { isKernelInterface } from "../undo/kernel-interface.ts";

/** A network that a running pod asked for and does not have. */
export interface MissingNetwork {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly containerId: string;
  /** `no-record`: Levee never attached the pod. `network-missing`: not to this network. `interface-gone`: the interface is gone. */
  readonly kind: "no-record" | "network-missing" | "interface-gone";
  readonly network: string;
  readonly ifname: string;
  readonly why: string;
  /** The pod's status lists the network, so its sandbox may be gone and the kubelet about to make another. */
  readonly wasThere: boolean;
}

/** Whether the pod has a sandbox with its own network namespace, and keeps it. */
export function isRunning(pod: PodFacts): boolean {
  return pod.phase === "Running" && pod.hostNetwork !== true && pod.isDeleting !== true;
}

/** The networks that the annotations name; none when they are unreadable, since no attachment can follow from them. */
export function networksAskedFor(pod: PodFacts, multusNamespace: Namespace): readonly string[] {
  try {
    const annotation = pod.annotations[networksAnnotation] ?? "";
    const own = defaultNetworkOf(pod.annotations, multusNamespace);
    return [...(own === undefined ? [] : [own]), ...parseSelection(annotation, pod.namespace)].map(networkNameOf);
  } catch (thrown) {
    if (thrown instanceof LeveeError) return [];
    throw thrown;
  }
}

/** The newest record of this pod, of records in the journal's order. A predecessor of the same name does not count. */
export function recordOfPod(pod: PodFacts, records: readonly AttachmentRecord[]): AttachmentRecord | undefined {
  const isOwn = ({ pod: { uid } }: AttachmentRecord): boolean =>
    uid === "" || pod.uid === "" || uid === pod.uid || pod.isStatic;
  return records.findLast(isOwn);
}

export function withoutRecord(pod: PodFacts, asked: readonly string[]): readonly MissingNetwork[] {
  const why = "nothing was attached for this pod, so it was started while another configuration was in force";
  const status = pod.annotations[networkStatusAnnotation] ?? "";
  return asked.map((network) => {
    const wasThere = status.includes(JSON.stringify(network));
    return { ...subject(pod), kind: "no-record", network, ifname: "", why, wasThere };
  });
}

/** Networks that were asked for and not attached; one asked for twice must be attached twice. */
export function notAttached(
  pod: PodFacts,
  record: AttachmentRecord,
  asked: readonly string[],
): readonly MissingNetwork[] {
  // Multus' files do not always hold the name by which a network was asked for.
  if (record.origin === "multus" || asked.length === 0) return [];
  const attached = record.chains.map((chain) => String(chain.network));
  const missing = asked.filter((network) => {
    const at = attached.findIndex((name) => isSame(name, network));
    if (at >= 0) attached.splice(at, 1);
    return at < 0;
  });
  const why = "the pod asks for it, and it was not attached when the pod was started";
  return missing.map((network) => ({
    ...subject(pod, record),
    kind: "network-missing",
    network,
    ifname: "",
    why,
    wasThere: false,
  }));
}

/** A default network from a file of the node has no namespace, even if the annotation gives one. */
function isSame(attached: string, asked: string): boolean {
  return attached === asked || (!attached.includes("/") && asked.endsWith(`/${attached}`));
}

/** Interfaces that a plugin reported and that are no longer in the network namespace. */
export function interfacesGone(pod: PodFacts, record: AttachmentRecord, links: NetnsLinks): readonly MissingNetwork[] {
  if (links.isTruncated) return [];
  return record.chains
    .filter((chain, index) => !links.names.includes(chain.ifname) && isKernelInterface(chain, record, index))
    .map((chain) => ({
      ...subject(pod, record),
      kind: "interface-gone" as const,
      network: chain.network,
      ifname: chain.ifname,
      why: `its interface ${chain.ifname} is not in the pod's network namespace any more`,
      wasThere: false,
    }));
}

function subject(
  pod: PodFacts,
  record?: AttachmentRecord,
): Pick<MissingNetwork, "namespace" | "pod" | "uid" | "containerId"> {
  return { namespace: pod.namespace, pod: pod.name, uid: pod.uid, containerId: record?.containerId ?? "" };
}
