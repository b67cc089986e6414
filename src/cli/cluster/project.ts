import { countOf, objectsOf, timeMs } from "../../guard/json-values.ts";
import { defaultGuardSettings } from "../../guard/facts/guard-settings.ts";
import { memoryBytes } from "../../guard/facts/memory-quantity.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";

export interface ServerVersion {
  readonly text: string;
  readonly minor: number;
}

export function versionOf(value: unknown): ServerVersion {
  const { gitVersion, minor } = objectOf(value);
  // Some clouds send `30+`.
  return { text: textOf(gitVersion), minor: Number.parseInt(textOf(minor), 10) || 0 };
}

export interface NodeSeen {
  readonly name: string;
  readonly isReady: boolean;
  readonly isLinux: boolean;
}

export function nodeOf(value: unknown): NodeSeen | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const conditions = objectsOf(objectOf(objectOf(value)["status"])["conditions"]);
  return {
    name,
    isReady: conditions.some(({ type, status }) => type === "Ready" && status === "True"),
    isLinux: objectOf(metadata["labels"])["kubernetes.io/os"] !== "windows",
  };
}

export interface GuardLease {
  readonly holder: string;
  readonly renewedMs: number;
  readonly durationSeconds: number;
  readonly transitions: number;
}

export function guardLease(value: unknown): GuardLease | undefined {
  if (value === undefined) return undefined;
  const spec = objectOf(objectOf(value)["spec"]);
  return {
    holder: textOf(spec["holderIdentity"]),
    renewedMs: timeMs(spec["renewTime"]),
    durationSeconds: countOf(spec["leaseDurationSeconds"]),
    transitions: countOf(spec["leaseTransitions"]),
  };
}

export function leads({ holder, renewedMs, durationSeconds }: GuardLease, nowMs: number): boolean {
  return holder !== "" && nowMs - renewedMs <= durationSeconds * 1_000;
}

/** The daemons that pod starts depend on, as `namespace/daemonset`: from the guard's Deployment, else the defaults. */
export function cniDaemonsOf(deployment: unknown): readonly string[] {
  const template = objectOf(objectOf(objectOf(deployment)["spec"])["template"]);
  const words = objectsOf(objectOf(template["spec"])["containers"])
    .flatMap(({ command, args }) => [command, args])
    .flatMap((list) => (Array.isArray(list) ? list.map(textOf) : []));
  const told = words.flatMap((word, at) => {
    const value = word === "--cni-daemon" ? (words[at + 1] ?? "") : (/^--cni-daemon=(.*)$/u.exec(word)?.[1] ?? "");
    const [namespace = "", daemonSet = ""] = value.split("/");
    return daemonSet === "" ? [] : [`${namespace}/${daemonSet}`];
  });
  if (told.length > 0) return told;
  return defaultGuardSettings.cniDaemons.map(({ namespace, daemonSet }) => `${namespace}/${daemonSet}`);
}

/** A subject that the role levee-approver is bound to. */
export interface Approver {
  readonly kind: string;
  readonly name: string;
}

export function approversOf(binding: unknown): readonly Approver[] | undefined {
  if (objectOf(objectOf(binding)["roleRef"])["name"] !== "levee-approver") return undefined;
  return objectsOf(objectOf(binding)["subjects"]).map(({ kind, name }) => ({ kind: textOf(kind), name: textOf(name) }));
}

/** A container's memory, from metrics.k8s.io. */
export interface ContainerUsage {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly memoryBytes: number;
}

export function usageOf(value: unknown): readonly ContainerUsage[] | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const namespace = textOf(metadata["namespace"]);
  return objectsOf(objectOf(value)["containers"]).map((container) => ({
    namespace,
    pod: textOf(metadata["name"]),
    container: textOf(container["name"]),
    memoryBytes: memoryBytes(textOf(objectOf(container["usage"])["memory"])) ?? 0,
  }));
}
