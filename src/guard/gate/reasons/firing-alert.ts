import type { GateReason } from "../../../wire/gate-codes.ts";
import { foreignText } from "../../detect/foreign-text.ts";
import type { AlertFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";
import { exceptionMatches, type RebootException } from "../reboot-exception.ts";

/** 45 alerts fired in the outage; a person reads some of them and then repairs the cause. */
const alertsMax = 20;
/** They fire by design, to prove that alerts arrive. */
const alwaysFiring: ReadonlySet<string> = new Set(["Watchdog", "InfoInhibitor"]);
const shownLabelsMax = 8;

/** An alert fires that no exception lets pass. It holds every node: nobody knows which of them it is about. */
export function firingAlert(_node: unknown, facts: GateFacts): readonly GateReason[] {
  const blocking = facts.alerts.filter((alert) => isAboutTheCluster(alert) && exceptionFor(alert, facts) === undefined);
  const shown = blocking.slice(0, alertsMax).map((alert) => reasonOf(alert, facts.nowMs));
  const rest = blocking.length - shown.length;
  const [last] = shown.slice(-1);
  if (rest === 0 || last === undefined) return shown;
  return [...shown.slice(0, -1), { ...last, message: `${last.message}; ${rest} more alerts fire` }];
}

/** The exceptions that let an alert pass now. */
export function exceptionsInForce(facts: GateFacts): readonly RebootException[] {
  return facts.exceptions.filter((one) =>
    facts.alerts.some((alert) => isAboutTheCluster(alert) && exceptionMatches(one, labelsOf(alert))),
  );
}

function exceptionFor(alert: AlertFacts, { exceptions }: GateFacts): RebootException | undefined {
  return exceptions.find((one) => exceptionMatches(one, labelsOf(alert)));
}

/** Levee's own alerts hold no node: the rules look at the same facts, and only the reboot ends some of the alerts. */
function isAboutTheCluster({ name, labels }: AlertFacts): boolean {
  return !alwaysFiring.has(name) && labels["product"] !== "levee";
}

function labelsOf({ name, labels }: AlertFacts): Readonly<Record<string, string>> {
  return { ...labels, alertname: name };
}

function reasonOf(alert: AlertFacts, nowMs: number): GateReason {
  const { name, startsMs } = alert;
  const narrow = narrowestMatch(alert);
  return {
    code: "FiringAlert",
    message: `the alert ${name} fires${about(alert)}`,
    sinceMs: startsMs === 0 ? nowMs : startsMs,
    object: foreignText(`Alert/${narrow}`, 512),
    remedy: foreignText(
      `repair what ${name} tells of; or, if it says nothing against a reboot: levee gate except '${inQuotes(narrow)}' --until TIME --reason TEXT`,
      1_024,
    ),
  };
}

/** Label values are whatever an exporter says, and a person pastes the line. */
function inQuotes(match: string): string {
  return foreignText(match, 512).replaceAll("'", `'\\''`);
}

/** The labels that tell one thing from another, in the order in which a person looks for them. */
const tellingLabels = [
  "mountpoint",
  "device",
  "persistentvolumeclaim",
  "volume",
  "deployment",
  "statefulset",
  "daemonset",
  "job_name",
  "pod",
  "container",
  "host",
  "target",
  "namespace",
  "node",
  "instance",
];

/** What an exception would match: the name, and the first labels that tell this alert from others of its name. */
function narrowestMatch({ name, labels }: AlertFacts): string {
  const telling = tellingLabels.filter((label) => labels[label] !== undefined).slice(0, 2);
  return [`alertname=${name}`, ...telling.map((label) => `${label}=${labels[label]}`)].join(",");
}

function about({ labels }: AlertFacts): string {
  const telling = tellingLabels.filter((label) => labels[label] !== undefined).slice(0, shownLabelsMax);
  const texts = telling.map((label) => `${label} ${labels[label]}`);
  return texts.length === 0 ? "" : ` ${foreignText(`(${texts.join(", ")})`, 600)}`;
}
