import { software as ownSoftware } from "../../base/version.ts";
import type { ChecksAnswer, NetworkReadyView, NodeAnswer } from "../../wire/node-view.ts";
import type { CheckLine } from "./check-line.ts";
import { networkLines } from "./network-lines.ts";
import { plural } from "../terminal/plural.ts";

export interface ReportSection {
  readonly title: string;
  readonly lines: readonly CheckLine[];
}

/** All that is known of one node. */
export interface NodeReport {
  readonly node: string;
  /** No line failed. */
  readonly isGood: boolean;
  readonly sections: readonly ReportSection[];
  /** Undefined when its daemon could not be asked. */
  readonly networks: readonly NetworkReadyView[] | undefined;
  readonly networksTotal: number;
}

/** What a node's daemon said, or why it said nothing. */
export type NodeSaid =
  | { readonly node: NodeAnswer; readonly checks: ChecksAnswer | undefined }
  | { readonly away: string; readonly hint: string };

interface ReportInput {
  readonly node: string;
  readonly said: NodeSaid;
  /** Of the shim that the runtime starts; empty when nobody could ask it. */
  readonly shim: string;
  /** More that was found out without the daemon. */
  readonly more?: readonly CheckLine[];
}

/** Which checks stand together. What a newer daemon has beyond these comes last. */
const places: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: "runtime", names: ["conf", "primary"] },
  { title: "cluster", names: ["api", "view"] },
  { title: "hand", names: ["hand", "canary"] },
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
      detail: "the daemon is too old to be asked for them",
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

/** The shim itself, when it could be asked; else the one that made the last call. */
function shimOf(shim: string, checks: ChecksAnswer | undefined): string {
  return shim === "" ? (checks?.shimSoftware ?? "") : shim;
}

/** Neighbouring versions work together, so another version is a sign of a rollout that stopped half-way, not a failure. */
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

/** `levee 0.1.0` and `levee-shim/0.1.0` are of one version. */
function versionOf(software: string): string {
  return /[^ /]*$/u.exec(software)?.[0] ?? "";
}

function placed({ checks }: ChecksAnswer): readonly ReportSection[] {
  // Each network has a line of its own below.
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
