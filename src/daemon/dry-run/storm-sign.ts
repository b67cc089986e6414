import type { AdmissionFacts } from "../../admission/facts.ts";

/** Why this is no time for a trial; undefined on a calm node. A dry run takes a slot that a pod could use. */
export function stormSign(facts: AdmissionFacts, network: string, isHolding: boolean): string | undefined {
  const waiting = Object.values(facts.waiting).reduce((sum, count) => sum + count, 0);
  if (waiting > 0) return `${waiting} ${waiting === 1 ? "call waits" : "calls wait"} in line on this node`;
  if (isHolding) return "ADDs are held back on this node until its critical pods have their networks";
  if (facts.ownMemory !== "free") return "the daemon is short of memory";
  const isOpen = facts.openNetworks.some((open) => open.network === network);
  return isOpen ? "this network fails for every pod of this node now, and only probes may use it" : undefined;
}
