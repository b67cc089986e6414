import type { NetworkReadyView } from "../../wire/node-view.ts";
import { oneLine } from "../../base/plain-text.ts";
import { renderTable } from "../terminal/table.ts";
import { dryRunWord, type DryRunResult } from "./dry-run-result.ts";
import type { FailOn } from "../fail-on.ts";
import { hintFor } from "./network-lines.ts";
import type { NodeReport } from "./node-report.ts";

/** What one node says about one network. */
export interface NetworkVerdict {
  readonly node: string;
  /** `namespace/name`; the name that was asked for where no node's answer has it. */
  readonly network: string;
  readonly state: NetworkReadyView["state"] | "absent" | "away";
  readonly reasons: readonly string[];
  /** How to mend it; empty when there is nothing to do. */
  readonly hint: string;
  /** Absent where none was asked for, and on a node where the network is not ready. */
  readonly dryRun?: DryRunResult;
}

/** A name without a namespace means the network of that name in every namespace. */
export function networkVerdicts(name: string, reports: readonly NodeReport[]): readonly NetworkVerdict[] {
  const known = new Set(reports.flatMap(({ networks = [] }) => networks.map(({ network }) => network)));
  const meant = [...known].filter((network) => isMeant(network, name)).toSorted();
  const asked = meant.length === 0 ? [name] : meant;
  return asked.flatMap((network) => reports.map((report) => verdictOn(network, report)));
}

export function isPassed({ state, dryRun }: NetworkVerdict): boolean {
  return state === "ready" && (dryRun === undefined || dryRun.state === "passed");
}

/** A network that is ready and has reasons is in doubt, which is a warning. */
export function isGood(verdict: NetworkVerdict, failOn: FailOn): boolean {
  return isPassed(verdict) && (failOn === "error" || verdict.reasons.length === 0);
}

/** The verdict of the rules, then of the dry run. */
export function withDryRun(verdict: NetworkVerdict, dryRun: DryRunResult | undefined): NetworkVerdict {
  if (dryRun === undefined) return verdict;
  const isGood = dryRun.state === "passed";
  const reasons = isGood ? verdict.reasons : [...verdict.reasons, oneLine(dryRun.reason)];
  return { ...verdict, reasons, hint: isGood ? verdict.hint : dryRun.remedy, dryRun };
}

/** Whether no node that answered knows the network. */
export function isUnknownEverywhere(verdicts: readonly NetworkVerdict[]): boolean {
  return verdicts.every(({ state }) => state === "absent" || state === "away") && verdicts.some(isAbsent);
}

interface TableOptions {
  readonly isWide: boolean;
  readonly isDryRun?: boolean;
  readonly failOn?: FailOn;
}

export function verdictTable(
  verdicts: readonly NetworkVerdict[],
  { isWide, isDryRun = false, failOn = "error" }: TableOptions,
): string {
  const head = [
    ...["NODE", "NETWORK", "STATE", ...(isDryRun ? ["DRY RUN"] : []), "WHY"],
    ...(isWide ? [...(isDryRun ? ["ADDRESSES", "TOOK"] : []), "REMEDY"] : []),
  ];
  const rows = verdicts.map(({ node, network, state, reasons, hint, dryRun }) => [
    ...[node, network, state, ...(isDryRun ? [dryRun === undefined ? "not tried" : dryRunWord(dryRun)] : [])],
    reasons.join(", "),
    ...(isWide && isDryRun ? [dryRun?.addresses.join(", ") ?? "", tookText(dryRun)] : []),
    ...(isWide ? [hint] : []),
  ]);
  const remedies = [...new Set(verdicts.filter((verdict) => !isGood(verdict, failOn)).map(({ hint }) => hint))];
  const below = isWide ? [] : remedies.filter((hint) => hint !== "").map((hint) => `→ ${hint}\n`);
  return `${renderTable(head, rows)}${below.join("")}`;
}

function tookText(dryRun: DryRunResult | undefined): string {
  return dryRun === undefined || dryRun.tookMs === 0 ? "" : `${dryRun.tookMs} ms`;
}

function isMeant(network: string, name: string): boolean {
  return network === name || (!name.includes("/") && network.slice(network.indexOf("/") + 1) === name);
}

function isAbsent({ state }: NetworkVerdict): boolean {
  return state === "absent";
}

function verdictOn(network: string, { node, networks, networksTotal, sections }: NodeReport): NetworkVerdict {
  if (networks === undefined) {
    const failed = sections.flatMap(({ lines }) => lines).find(({ state }) => state !== "ok");
    return { node, network, state: "away", reasons: [failed?.detail ?? "no answer"], hint: failed?.hint ?? "" };
  }
  const found = networks.find((view) => view.network === network);
  if (found !== undefined) return seenVerdict(node, found);
  if (networksTotal > networks.length) return untoldVerdict(network, node, `${networks.length} of ${networksTotal}`);
  const hint = "the node's daemon has not read it yet, or it does not exist";
  return { node, network, state: "absent", reasons: ["the node does not know this network"], hint };
}

/** An answer names the first thousand, those with trouble first: the network is ready there, or the node lacks it. */
function untoldVerdict(network: string, node: string, part: string): NetworkVerdict {
  const reasons = [`the node told of ${part} networks, and not of this one`];
  const hint = "a NetworkReadiness object for this network has the guard ask each node for it by name (docs/gitops.md)";
  return { node, network, state: "unknown", reasons, hint };
}

function seenVerdict(node: string, { network, state, reasons }: NetworkReadyView): NetworkVerdict {
  if (state === "unknown" && reasons.length === 0) {
    const hint = "to look at the host, the daemon needs a resident hand of its own version";
    return { node, network, state, reasons: ["no hand has looked at the host"], hint };
  }
  return { node, network, state, reasons, hint: reasons.length === 0 ? "" : hintFor(reasons) };
}
