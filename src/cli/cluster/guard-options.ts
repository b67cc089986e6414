import type { CniDaemon, PrometheusServer, VerifyUrl } from "../../guard/facts/guard-settings.ts";
import type { Alertmanager } from "../../guard/observe/ask-alertmanager.ts";
import { parseAlertmanager, parsePrometheus } from "./alertmanager-option.ts";
import { parseVerifyUrl } from "./verify-url-option.ts";
import { usageFailure } from "../failure.ts";
import { metricsPortOf, portOf } from "./port-option.ts";

interface GuardPlaceOptions {
  readonly metricsPort?: string;
  readonly daemonPort?: string;
  readonly alertmanager?: readonly string[];
  readonly cniDaemon?: readonly string[];
  readonly stuckAfter?: string;
  readonly lowerAfter?: string;
  readonly verifyUrl?: readonly string[];
  readonly prometheus?: string;
}

interface GuardPlaces {
  readonly metricsPort?: number;
  readonly daemonPort?: number;
  readonly alertmanagers?: readonly Alertmanager[];
  readonly cniDaemons?: readonly CniDaemon[];
  readonly stuckAfterMs?: number;
  readonly calmForMs?: number;
  readonly verifyUrls?: readonly VerifyUrl[];
  readonly prometheus?: PrometheusServer;
}

/** One Alertmanager has fewer replicas, and each dead one delays a look. */
const alertmanagersMax = 8;
/** They are asked one after the other, and a person's stop waits for that. */
const verifyUrlsMax = 8;
/** Less than a minute is an ordinary start on a busy node; after an hour the pods of an outage have been waiting for too long. */
const stuckAfterSeconds = { min: 60, max: 3_600 };

/** A day has its own rhythm and a quarter its own; less than a day proves nothing. */
const lowerAfterDays = { min: 1, max: 90 };
const dayMs = 86_400_000;

/** Parses the guard's ports, Alertmanagers, CNI daemons and limits. */
export function guardPlaces(options: GuardPlaceOptions): GuardPlaces {
  const { metricsPort, daemonPort, alertmanager, cniDaemon, stuckAfter, lowerAfter, verifyUrl, prometheus } = options;
  atMost("--alertmanager", alertmanager, alertmanagersMax, "http://alertmanager.example:9093");
  atMost("--verify-url", verifyUrl, verifyUrlsMax, "https://update.example/");
  return {
    ...(metricsPort === undefined ? {} : { metricsPort: metricsPortOf(metricsPort, "9811") }),
    ...(daemonPort === undefined ? {} : { daemonPort: portOf("--daemon-port", daemonPort, "9810") }),
    ...(alertmanager === undefined ? {} : { alertmanagers: alertmanager.map(parseAlertmanager) }),
    ...(cniDaemon === undefined ? {} : { cniDaemons: cniDaemon.map(cniDaemonOf) }),
    ...(stuckAfter === undefined ? {} : { stuckAfterMs: stuckAfterMsOf(stuckAfter) }),
    ...(lowerAfter === undefined ? {} : { calmForMs: calmForMsOf(lowerAfter) }),
    ...(verifyUrl === undefined ? {} : { verifyUrls: verifyUrl.map(parseVerifyUrl) }),
    ...(prometheus === undefined ? {} : { prometheus: parsePrometheus(prometheus) }),
  };
}

function atMost(option: string, given: readonly string[] | undefined, max: number, example: string): void {
  if (given === undefined || given.length <= max) return;
  throw usageFailure(
    `Cannot use ${option} more than ${max} times: it was given ${given.length} times`,
    `${option} ${example}`,
  );
}

function stuckAfterMsOf(text: string): number {
  const { min, max } = stuckAfterSeconds;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds * 1000;
  throw usageFailure(
    `Cannot use --stuck-after as it must be a number of seconds from ${min} to ${max}: current value is ${JSON.stringify(text)}`,
    "--stuck-after 300",
  );
}

function calmForMsOf(text: string): number {
  if (text === "never") return Number.POSITIVE_INFINITY;
  const { min, max } = lowerAfterDays;
  const days = Number(text);
  if (Number.isInteger(days) && days >= min && days <= max) return days * dayMs;
  throw usageFailure(
    `Cannot use --lower-after as it must be a number of days from ${min} to ${max}, or never: current value is ${JSON.stringify(text)}`,
    "--lower-after 7",
  );
}

function cniDaemonOf(text: string): CniDaemon {
  const [namespace = "", daemonSet = "", container = "", ...rest] = text.split("/");
  const isName = [namespace, daemonSet, container].every((name) =>
    /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/u.test(name),
  );
  if (isName && rest.length === 0) return { namespace, daemonSet, container };
  throw usageFailure(
    `Cannot use --cni-daemon as it must be a namespace, a DaemonSet and a container with slashes between them: current value is ${JSON.stringify(text)}`,
    "--cni-daemon kube-system/kube-multus-ds/kube-multus",
  );
}
