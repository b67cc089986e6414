import type { ChecksAnswer } from "../../wire/node-view.ts";
import { ageText } from "../terminal/span.ts";
import type { CheckLine } from "./check-line.ts";

/** A person does not read a longer list. */
const linesMax = 20;

/** A network is never ready on a node that lacks something it needs. */
export function networkLines(answer: ChecksAnswer): readonly CheckLine[] {
  const { networks, networksTotal } = answer;
  const broken = networks.filter(({ state }) => state === "not-ready");
  const doubtful = networks.filter(({ state, reasons }) => state === "ready" && reasons.length > 0);
  const unseen = networks.filter(({ state, reasons }) => state === "unknown" && reasons.length > 0);
  const unknown = networks.filter(({ state, reasons }) => state === "unknown" && reasons.length === 0).length;
  const ready = networksTotal - broken.length - unseen.length - unknown;
  return [
    ...listed(broken, "failed", "not ready"),
    ...listed(unseen, "warning", "unknown"),
    ...listed(doubtful, "warning", "ready, but"),
    ...(unknown === 0 ? [] : [unlooked(unknown, answer)]),
    ...(ready === 0 ? [] : [line("ok", "networks", `${ready} ready on this node${lookedText(answer)}`)]),
  ];
}

function listed(
  networks: ChecksAnswer["networks"],
  state: "failed" | "warning",
  verdict: "not ready" | "unknown" | "ready, but",
): readonly CheckLine[] {
  const lines = networks
    .slice(0, linesMax)
    .map(({ network, reasons }) =>
      line(state, network, `${verdict}${verdict === "ready, but" ? "" : ":"} ${reasons.join(", ")}`, hintFor(reasons)),
    );
  const left = networks.length - lines.length;
  return left === 0 ? lines : [...lines, line(state, "networks", `${left} more are ${verdict.replace(", but", "")}`)];
}

/** A daemon that has just started may not have looked yet, which is no fault. */
function unlooked(count: number, { checks, networksAgeMs }: ChecksAnswer): CheckLine {
  const hasHand = checks.some(({ name, state }) => name === "hand" && state === "ok");
  if (hasHand && networksAgeMs === undefined)
    return line(
      "warning",
      "networks",
      `${count} not checked yet: the first look is still to come`,
      "repeat in a few seconds",
    );
  const hint = "to look at the host, the daemon needs a resident hand of its own version";
  return line("warning", "networks", `${count} could not be checked`, hint);
}

/** The daemon looks once a minute, so something that was just repaired may still count as missing. */
function lookedText({ networksAgeMs }: ChecksAnswer): string {
  return networksAgeMs === undefined ? "" : `, as of ${ageText(networksAgeMs)} ago`;
}

/** What to do about a reason, by its words (src/readiness/network-rules.ts). */
const hints: readonly (readonly [RegExp, string])[] = [
  [/^missing plugin /u, "install the plugin in the folder of CNI plugins on this node"],
  [
    /^missing host /u,
    "create what is missing on the host, with its uplink, before pods with this network run on this node",
  ],
  [/ cannot be run \(/u, "install the plugin for this node's architecture, executable"],
  [/ does not support cniVersion /u, "install a newer plugin on this node, or lower the network's cniVersion"],
  [/^host interface \S+ is down /u, "set the interface up"],
  [/ is a port of another interface$/u, "use the bridge or bond itself, or an interface that is no port of one"],
  [/^mtu \d+ of the network is above /u, "raise the interface's MTU, or lower the network's"],
  [/ does not run \(/u, "start that daemon on this node"],
  [
    / does not filter VLANs /u,
    "turn the filter on, and let the bridge's uplink carry the VLAN (bridge vlan add dev UPLINK vid VLAN)",
  ],
  [/ is not a bridge\)$/u, "rename that interface, or name another bridge in the network's configuration"],
  [
    / (?:was|were) not seen$/u,
    "roll out the resident hand of the daemon's version and repeat a minute later. It looks at the first 64 bridges of a node, and pods start without this look",
  ],
  [/^host address /u, "exclude the host's address from the network's range, or give the host another one"],
  [
    /(?:^| )uplink (?!.* was not seen$)/u,
    "mend the bridge's uplink, or annotate the network with levee.dev/uplink=none if its pods only need to reach each other on this node",
  ],
];

export function hintFor(reasons: readonly string[]): string {
  const found = hints.filter(([words]) => reasons.some((reason) => words.test(reason))).map(([, hint]) => hint);
  return found.length === 0 ? "correct the network's configuration" : found.join("; ");
}

function line(state: CheckLine["state"], name: string, detail: string, hint = ""): CheckLine {
  return { state, name, detail, hint };
}
