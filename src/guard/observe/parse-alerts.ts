import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { objectsOf, timeMs } from "../json-values.ts";
import type { AlertFacts } from "../facts/world.ts";

/** For one cluster; 45 fired in the outage that this is built for. */
const alertsMax = 2_000;
/** A label's value names an object, and names have at most 253 characters. */
const labelCharsMax = 253;
/** All labels are kept, because an exception of the reboot gate may match any of them. More than this is no alert of a rule. */
const labelsMax = 64;

interface ParsedAlerts {
  readonly alerts: readonly AlertFacts[];
  /** How many were over the limit. */
  readonly omitted: number;
}

/** This cluster's alerts in an answer of Alertmanager's API v2. Tenants may write names and labels. */
export function parseAlerts(text: string, cluster: string): ParsedAlerts {
  const value = parsed(text);
  if (!Array.isArray(value)) throw new Error("its answer is not a list of alerts");
  const own = objectsOf(value).filter((alert) => {
    const label = textOf(objectOf(alert["labels"])["cluster"]);
    return cluster === "" || label === "" || label === cluster;
  });
  const alerts = own.slice(0, alertsMax).flatMap((alert) => alertOf(objectOf(alert["labels"]), alert["startsAt"]));
  return { alerts, omitted: Math.max(0, own.length - alertsMax) };
}

/** Does not quote the text, as the parser's error would: a proxy's page may repeat the request. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("its answer is not JSON", { cause });
  }
}

function alertOf(labels: Readonly<Record<string, unknown>>, startsAt: unknown): readonly AlertFacts[] {
  const name = foreignText(textOf(labels["alertname"]), labelCharsMax);
  if (name === "") return [];
  const kept = Object.keys(labels)
    .filter((key) => key !== "alertname")
    .slice(0, labelsMax)
    .flatMap((key) => {
      const label = foreignText(textOf(labels[key]), labelCharsMax);
      return label === "" ? [] : [[foreignText(key, labelCharsMax), label] as const];
    });
  return [{ name, labels: Object.fromEntries(kept), startsMs: timeMs(startsAt) }];
}
