import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";

/** CNI_ARGS: `KEY=VALUE` pairs in the order the runtime gave them. */
export interface CniArgs {
  readonly pairs: readonly (readonly [key: string, value: string])[];
}

export const noArgs: CniArgs = { pairs: [] };

/** What the runtime says about the pod; each part is absent when the variable is, or is empty. */
export interface PodArgs {
  readonly namespace?: Namespace;
  readonly name?: PodName;
  readonly infraContainerId?: string;
  readonly uid?: PodUid;
}

/** The text itself, cut up when somebody asks: a call in line keeps it for long, and 2,000 of them may be in line. */
class ArgsText implements CniArgs {
  readonly #text: string;
  #pod: PodArgs | undefined;
  #forDelegate: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  isOf(text: string): boolean {
    return this.#text === text;
  }

  get pairs(): readonly (readonly [string, string])[] {
    return pairTexts(this.#text).map((pair) => {
      const equals = pair.indexOf("=");
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    });
  }

  /** Read once: it is asked for with every step of a call, and whoever keeps it keeps the same. */
  get pod(): PodArgs {
    return (this.#pod ??= readPodArgs(this));
  }

  /** Read once: most networks of a pod add nothing of their own. */
  get forDelegate(): string {
    return (this.#forDelegate ??= printForDelegate(this, {}));
  }

  find(key: string): string | undefined {
    const pair = `${key}=`;
    const isFirst = this.#text.startsWith(pair);
    const from = this.#text.lastIndexOf(`;${pair}`) + 1;
    // Of several the last counts, so the first of all only when there is no other.
    if (from === 0 && !isFirst) return undefined;
    const end = this.#text.indexOf(";", from);
    return this.#text.slice(from + pair.length, end < 0 ? undefined : end);
  }
}

/** Splits at `;` and at the first `=`: a value may contain `=`, and the text may end in `;`. */
export function parseCniArgs(text: string): CniArgs {
  if (text === "") return noArgs;
  const [last] = lastRead;
  if (last?.isOf(text) === true) return last;
  const bad = pairTexts(text).filter((pair) => pair.indexOf("=") < 1 || pair.includes("\0"));
  if (bad.length > 0) {
    throw new LeveeError(
      "env-invalid",
      `Cannot use CNI_ARGS: each pair must be KEY=VALUE: current value has ${JSON.stringify(bad.join(";"))}`,
    );
  }
  return (lastRead[0] = new ArgsText(text));
}

/** A call's are read when they are checked and again when they are taken. */
const lastRead: [ArgsText?] = [];

function pairTexts(text: string): readonly string[] {
  return text.split(";").filter((pair) => pair !== "");
}

/** The value of `key`; of several the last counts. */
export function argOf(args: CniArgs, key: string): string | undefined {
  if (args instanceof ArgsText) return args.find(key);
  return args.pairs.findLast(([candidate]) => candidate === key)?.[1];
}

/** The pod the runtime is speaking of. Names reach paths and URLs, so they must look like Kubernetes names. */
export function podArgs(args: CniArgs): PodArgs {
  return args instanceof ArgsText ? args.pod : readPodArgs(args);
}

function readPodArgs(args: CniArgs): PodArgs {
  const namespace = kubernetesName(args, "K8S_POD_NAMESPACE");
  const name = kubernetesName(args, "K8S_POD_NAME");
  const infraContainerId = argOf(args, "K8S_POD_INFRA_CONTAINER_ID");
  const uid = argOf(args, "K8S_POD_UID");
  return {
    ...(namespace === undefined ? {} : { namespace: namespace as Namespace }), // checked above
    ...(name === undefined ? {} : { name: name as PodName }), // checked above
    ...(infraContainerId === undefined || infraContainerId === "" ? {} : { infraContainerId }),
    ...(uid === undefined || uid === "" ? {} : { uid: uid as PodUid }), // compared, never used as a path
  };
}

/** Multus' five, in the order it has always sent them. Plugins exist that match on the text. */
const fixedKeys = ["IgnoreUnknown", "K8S_POD_NAMESPACE", "K8S_POD_NAME", "K8S_POD_INFRA_CONTAINER_ID", "K8S_POD_UID"];

/** What a network's element adds, and what is kept from the plugins of this network. */
interface ExtraArgs {
  readonly mac?: string;
  readonly ips?: readonly string[];
  /** Keys of the runtime that are not handed on. */
  readonly omit?: readonly string[];
}

/** CNI_ARGS for a delegate: the fixed five, then the runtime's others in their order, then MAC and IP. */
export function pluginArgs(args: CniArgs, extra: ExtraArgs = {}): string {
  const { mac, ips, omit = [] } = extra;
  const isPlain = mac === undefined && ips === undefined && omit.every((key) => argOf(args, key) === undefined);
  return isPlain && args instanceof ArgsText ? args.forDelegate : printForDelegate(args, extra);
}

function printForDelegate(args: CniArgs, extra: ExtraArgs): string {
  const fixed = fixedKeys.map((key): [string, string] => [
    key,
    key === "IgnoreUnknown" ? "true" : (argOf(args, key) ?? ""),
  ]);
  const dropped = new Set([...fixedKeys, ...(extra.omit ?? [])]);
  const others = args.pairs.filter(([key]) => !dropped.has(key));
  const requested: [string, string][] = [];
  if (extra.mac !== undefined) requested.push(["MAC", extra.mac]);
  if (extra.ips !== undefined && extra.ips.length > 0) requested.push(["IP", extra.ips.join(",")]);
  return [...fixed, ...others, ...requested].map(([key, value]) => `${key}=${value}`).join(";");
}

const namePattern = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

function kubernetesName(args: CniArgs, key: string): string | undefined {
  const value = argOf(args, key);
  if (value === undefined || value === "") return undefined;
  if (value.length <= 253 && namePattern.test(value) && !value.includes("..")) return value;
  throw new LeveeError(
    "env-invalid",
    `Cannot use CNI_ARGS: ${key} must be a Kubernetes name: current value is ${JSON.stringify(value)}`,
  );
}
