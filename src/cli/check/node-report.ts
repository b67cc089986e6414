import { software as ownSoftware } from "../../base/version.ts";
import type { ChecksAnswer, NetworkReadyView, NodeAnswer } from "../../wire/node-view.ts";
import type { CheckLine } from "./check-line.ts";
import { networkLines } from "./network-lines.ts";
import { plural } from "../terminal/plural.ts";

export interface ReportSection {
  readonly title: string;
  readonly lines: readonly CheckLine[];
}

/** All checks of one node. */
export interface NodeReport {
  readonly node: string;
  /** No line failed. */
  readonly isGood: boolean;
  readonly sections: readonly ReportSection[];
  /** Undefined if its daemon did not answer. */
  readonly networks: readonly NetworkReadyView[] | undefined;
  readonly networksTotal: number;
}

/** A node's daemon's answer, or why there is none. */
export type NodeSaid =
  | { readonly node: NodeAnswer; readonly checks: ChecksAnswer | undefined }
  | { readonly away: string; readonly hint: string };

interface ReportInput {
  readonly node: string;
  readonly said: NodeSaid;
  /** Version of the shim that the runtime starts; empty if unknown. */
  readonly shim: string;
  /** Checks that need no daemon. */
  readonly more?: readonly CheckLine[];
}

/** The sections and their checks. Further checks of a newer daemon come last. */
const places: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: "runtime", names: ["conf", "primary"] },
  { title: "cluster", names: ["api", "view"] },
  { title: "hand", names: ["hand", "canary", "plugins"] },
  { title: "state", names: ["journal", "quarantine", "leaks", "missing-networks", "orphan-leases"] },
];

export function nodeReport({ node, said, shim, more = [] }: ReportInput): NodeReport {
  if ("away" in said) {
    const away: CheckLine = {
      state: "failed",
      name: "daemon",
      detail: `does not answer: ${said.away}`,
      hint: said.hint,
    };
    return report(node, [section("daemon", [away, ...more])], undefined);
  }
  const { checks } = said;
  const daemon = section("daemon", [answers(said.node), ...skews(said.node, shimOf(shim, checks)), ...more]);
  if (checks === undefined) {
    const hint = "use the levee program that came with the daemon";
    const old: CheckLine = {
      state: "warning",
      name: "checks",
      detail: "the daemon is too old to answer this question",
      hint,
    };
    return report(node, [daemon, section("other", [old])], undefined);
  }
  const sections = [daemon, ...placed(checks), section("networks", networkLines(checks))];
  return report(node, sections, checks);
}

function report(node: string, all: readonly ReportSection[], checks: ChecksAnswer | undefined): NodeReport {
  const sections = all.filter(({ lines }) => lines.length > 0);
  return {
    node,
    isGood: sections.every(({ lines }) => lines.every(({ state }) => state !== "failed")),
    sections,
    networks: checks?.networks,
    networksTotal: checks?.networksTotal ?? 0,
  };
}

function section(title: string, lines: readonly CheckLine[]): ReportSection {
  return { title, lines };
}

function answers({ software, attachments, startedWallMs }: NodeAnswer): CheckLine {
  const since = new Date(startedWallMs).toISOString();
  const detail = `answers: ${software}, since ${since}, ${plural(attachments, "attachment")}`;
  return { state: "ok", name: "daemon", detail, hint: "" };
}

/** The shim on this node if known; else the shim that made the last call. */
function shimOf(shim: string, checks: ChecksAnswer | undefined): string {
  return shim === "" ? (checks?.shimSoftware ?? "") : shim;
}

/** Neighbouring versions work together, so a difference is only a sign of a rollout that stopped half-way. */
function skews(daemon: NodeAnswer, shim: string): readonly CheckLine[] {
  const wanted = versionOf(daemon.software);
  const others = [
    ["shim", shim, "run levee install on the node, as the init container of the DaemonSet does"],
    ...daemon.residentHands.map((hand) => ["hand", hand.software, "roll out the resident hand"] as const),
    ["command", ownSoftware, "use the levee program that came with the daemon"],
  ] as const;
  const lines = others
    .filter(([, software]) => software !== "" && versionOf(software) !== wanted)
    .map(([part, software, hint]): CheckLine => {
      const detail = `the ${part} is ${software}, the daemon ${daemon.software}`;
      return { state: "warning", name: "versions", detail, hint };
    });
  if (lines.length > 0) return lines;
  const known = [shim === "" ? "" : "shim", daemon.residentHands.length === 0 ? "" : "hand", "command"];
  const parts = known.filter((part) => part !== "").join(", ");
  return [{ state: "ok", name: "versions", detail: `${parts} and daemon are all ${wanted}`, hint: "" }];
}

/** The version without the name: `levee 0.1.0` and `levee-shim/0.1.0` are the same version. */
function versionOf(software: string): string {
  return /[^ /]*$/u.exec(software)?.[0] ?? "";
}

function placed({ checks }: ChecksAnswer): readonly ReportSection[] {
  // Each network gets its own line below.
  const rest = checks.filter(({ name }) => name !== "networks" && !places.some(({ names }) => names.includes(name)));
  return [
    ...places.map(({ title, names }) =>
      section(
        title,
        checks.filter(({ name }) => names.includes(name)),
      ),
    ),
    section("other", rest),
  ];
}
