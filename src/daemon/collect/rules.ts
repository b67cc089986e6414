import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { placeOf, type Sight } from "./sight.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/**
 * `dead`: may be undone. `alive`: its namespace exists. `kept`: dead, but one of its networks has disableGC.
 * `unproven`: its namespace is not seen, and nothing proves that the hand could see it.
 */
interface Judgement {
  readonly fate: "dead" | "alive" | "kept" | "unproven";
  readonly why: string;
}

/** Undos per minute: this many, or a tenth of the node. A wrong list or look must not empty the node. */
const undosMax = 5;
const undosShare = 0.1;

export function undoLimit(attachments: number): number {
  return Math.max(undosMax, Math.floor(attachments * undosShare));
}

/** The one rule of garbage collection: an attachment is dead only if its namespace is certainly gone. A mistake costs a pod. */
export function judge(record: AttachmentRecord, sight: Sight, bootId: string): Judgement {
  if (sight.alive.has(record)) return { fate: "alive", why: "its network namespace is there" };
  const judgement = judgeUnseen(record, sight, bootId);
  const keeper = record.chains.find((chain) => chain.disableGC);
  if (judgement.fate !== "dead" || keeper === undefined) return judgement;
  return { fate: "kept", why: `${judgement.why}, but ${keeper.network} has disableGC` };
}

/**
 * The earlier boots whose records need neither a second look nor a limit, because no namespace outlives a boot. A daemon
 * may see another boot ID than before without a reboot. So a boot has not ended while one of its namespaces is seen, or
 * while the hand sees none of this boot's although there are some.
 */
export function endedBoots(
  records: readonly AttachmentRecord[],
  { alive }: Pick<Sight, "alive">,
  bootId: string,
): ReadonlySet<string> {
  const own = records.filter((record) => record.bootId === bootId);
  if (own.length > 0 && !own.some((record) => alive.has(record))) return new Set();
  const living = new Set([...alive].map((record) => record.bootId));
  const earlier = records.filter((record) => isOfEarlierBoot(record, bootId));
  return new Set(earlier.map((record) => record.bootId).filter((boot) => !living.has(boot)));
}

function isOfEarlierBoot(record: AttachmentRecord, bootId: string): boolean {
  return record.bootId !== "" && record.bootId !== bootId;
}

function judgeUnseen(record: AttachmentRecord, sight: Sight, bootId: string): Judgement {
  if (isOfEarlierBoot(record, bootId)) return { fate: "dead", why: "it was attached before the last boot" };
  const { path } = record.netns;
  if (path === "") return { fate: "unproven", why: "its network namespace is not known" };
  if (!sight.gone.has(record))
    return {
      fate: "unproven",
      why: `${path} is not a network namespace, or cannot be read, so the hand may not see its mount`,
    };
  if (sight.places.has(placeOf(path))) return { fate: "dead", why: `its network namespace ${path} is gone` };
  return {
    fate: "unproven",
    why: `${path} cannot be seen, and no other namespace there can be either, so the hand may be blind: look again when another pod runs on this node`,
  };
}

/** No call or recovery works on the attachment. */
export function isSettled(record: AttachmentRecord): boolean {
  return record.phase === "acknowledged";
}

interface Surroundings {
  /** In the journal's order. */
  readonly records: readonly AttachmentRecord[];
  /** Undefined when the view may be incomplete. */
  readonly pods: readonly PodFacts[] | undefined;
}

/**
 * Why an attachment with a living namespace looks left over. GC only reports it: the view may be late, and the namespace
 * may hold a living pod.
 */
export function doubtsAbout(around: Surroundings): (record: AttachmentRecord) => string | undefined {
  const pods = around.pods === undefined ? undefined : byName(around.pods);
  const newest = newestByPod(around.records);
  return (record) => {
    const { name, uid } = record.pod;
    if (name === "") return undefined;
    const podName = nameOf(record.pod);
    const latest = newest.get(podName);
    if (latest !== undefined && latest.containerId !== record.containerId)
      return `a newer sandbox of the same pod is attached: ${latest.containerId}`;
    if (pods === undefined) return undefined;
    const pod = pods.get(podName);
    if (pod === undefined) return "its pod is gone";
    const isOther = uid !== "" && pod.uid !== "" && pod.uid !== uid && !pod.isStatic;
    return isOther ? `another pod has its name: its UID is ${pod.uid}, this one's was ${uid}` : undefined;
  };
}

function byName(pods: readonly PodFacts[]): ReadonlyMap<string, PodFacts> {
  return new Map(pods.map((pod) => [nameOf(pod), pod]));
}

function newestByPod(records: readonly AttachmentRecord[]): ReadonlyMap<string, AttachmentRecord> {
  const newest = new Map<string, AttachmentRecord>();
  for (const record of records) {
    if (record.pod.name !== "" && isSettled(record)) newest.set(nameOf(record.pod), record);
  }
  return newest;
}

function nameOf(pod: { readonly namespace: string; readonly name: string }): string {
  return `${pod.namespace}/${pod.name}`;
}
