import type { ChecksAnswer } from "../../wire/node-view.ts";
import { ageText } from "../terminal/span.ts";
import type { CheckLine } from "./check-line.ts";

/** More is no list that a person reads; those that come first stand for the rest. */
const linesMax = 20;

/** A network is never called ready on a node that lacks something it needs. */
export function networkLines(answer: ChecksAnswer): readonly CheckLine[] {
  const { networks, networksTotal } = answer;
  const broken = networks.filter(({ state }) => state === "not-ready");
  const doubtful = networks.filter(({ state, reasons }) => state === "ready" && reasons.length > 0);
  const unknown = networks.filter(({ state }) => state === "unknown").length;
  const ready = networksTotal - broken.length - unknown;
  return [
    ...listed(broken, "failed", "not ready"),
    ...listed(doubtful, "warning", "ready, but"),
    ...(unknown === 0 ? [] : [unseen(unknown, answer)]),
    ...(ready === 0 ? [] : [line("ok", "networks", `${ready} ready on this node${lookedText(answer)}`)]),
  ];
}

function listed(
  networks: ChecksAnswer["networks"],
  state: "failed" | "warning",
  verdict: "not ready" | "ready, but",
): readonly CheckLine[] {
  const lines = networks
    .slice(0, linesMax)
    .map(({ network, reasons }) =>
      line(state, network, `${verdict}${state === "failed" ? ":" : ""} ${reasons.join(", ")}`, hintFor(reasons)),
    );
  const left = networks.length - lines.length;
  return left === 0 ? lines : [...lines, line(state, "networks", `${left} more are ${verdict.replace(", but", "")}`)];
}

/** Between the start of a daemon and its first look nothing is wrong yet. */
function unseen(count: number, { checks, networksAgeMs }: ChecksAnswer): CheckLine {
  const hasHand = checks.some(({ name, state }) => name === "hand" && state === "ok");
  if (hasHand && networksAgeMs === undefined)
    return line(
      "warning",
      "networks",
      `${count} not looked at: the first look is still to come`,
      "repeat in a few seconds",
    );
  const hint = "it takes a resident hand of the daemon's version to look at the host";
  return line("warning", "networks", `${count} could not be looked at`, hint);
}

/** The daemon looks once a minute: what was mended a moment ago may still be told as missing. */
function lookedText({ networksAgeMs }: ChecksAnswer): string {
  return networksAgeMs === undefined ? "" : `, as of ${ageText(networksAgeMs)} ago`;
}

function hintFor(reasons: readonly string[]): string {
  const has = (start: string): boolean => reasons.some((reason) => reason.startsWith(start));
  const hints = [
    has("missing plugin") ? "install the plugin in the folder of CNI plugins on this node" : "",
    has("missing host")
      ? "make what is missing on the host, with its uplink, before pods that ask for the network are let on this node"
      : "",
    has("host bridge")
      ? "give the bridge an interface that leads out of the node, unless its pods are to reach each other here only"
      : "",
  ].filter((hint) => hint !== "");
  return hints.length === 0 ? "mend the configuration of the network" : hints.join("; ");
}

function line(state: CheckLine["state"], name: string, detail: string, hint = ""): CheckLine {
  return { state, name, detail, hint };
}
