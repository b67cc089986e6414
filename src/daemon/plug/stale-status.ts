import { networkStatusAnnotation } from "../../base/annotations.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/**
 * Whether the pod's network-status names a network definition at an interface that the pod does not have. The repair of
 * statuses finds missing entries only: entries that others have added stay.
 */
export function isStatusStale(pod: PodFacts, record: AttachmentRecord): boolean {
  // Of what was plugged with Multus, Levee knows the interface and not the name of the definition.
  const isHad = (name: string, ifname: string): boolean =>
    record.chains.some((chain) => chain.ifname === ifname && (chain.network === name || !chain.network.includes("/")));
  return entriesOf(pod.annotations[networkStatusAnnotation] ?? "[]").some(
    ({ name, interface: ifname }) => name.includes("/") && ifname !== "" && !isHad(name, ifname),
  );
}

function entriesOf(text: string): readonly { readonly name: string; readonly interface: string }[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.flatMap(entryOf) : [];
  } catch {
    // Not JSON, so it says nothing. The repair of statuses writes it anew.
    return [];
  }
}

function entryOf(value: unknown): readonly { readonly name: string; readonly interface: string }[] {
  if (typeof value !== "object" || value === null || !("name" in value) || !("interface" in value)) return [];
  const { name, interface: ifname } = value;
  return typeof name === "string" && typeof ifname === "string" ? [{ name, interface: ifname }] : [];
}
