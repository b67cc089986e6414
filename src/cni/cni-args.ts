import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";

/** CNI_ARGS: `KEY=VALUE` pairs in the order the runtime gave them. */
export interface CniArgs {
  readonly pairs: readonly (readonly [key: string, value: string])[];
}

export const noArgs: CniArgs = { pairs: [] };

/** The pod's identity from the runtime. A part is absent when its variable is absent or empty. */
export interface PodArgs {
  readonly namespace?: Namespace;
  readonly name?: PodName;
  readonly infraContainerId?: string;
  readonly uid?: PodUid;
}

/** Keeps only the text and parses it on demand, because up to 2,000 calls in line keep their arguments in memory. */
class ArgsText implements CniArgs {
  readonly #text: string;
  #pod: PodArgs | undefined;
  #forPlugin: string | undefined;

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

  /** Cached: every step of a call asks for it, and all of them then share one object. */
  get pod(): PodArgs {
    return (this.#pod ??= readPodArgs(this));
  }

  /** Cached: most networks of a pod add nothing of their own. */
  get forPlugin(): string {
    return (this.#forPlugin ??= printForPlugin(this, {}));
  }

  find(key: string): string | undefined {
    const pair = `${key}=`;
    const isFirst = this.#text.startsWith(pair);
    const from = this.#text.lastIndexOf(`;${pair}`) + 1;
    // The last of several pairs counts, so the pair at the very start counts only if it is the only one.
    if (from === 0 && !isFirst) return undefined;
    const end = this.#text.indexOf(";", from);
    return this.#text.slice(from + pair.length, end < 0 ? undefined : end);
  }
}

/** Splits at `;`, then at the first `=`: a value may contain `=`, and the text may end in `;`. */
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

/** The request parser reads the same text twice: to check it and to use it. */
const lastRead: [ArgsText?] = [];

function pairTexts(text: string): readonly string[] {
  return text.split(";").filter((pair) => pair !== "");
}

/** The value of `key`. The last of several pairs counts. */
export function argOf(args: CniArgs, key: string): string | undefined {
  if (args instanceof ArgsText) return args.find(key);
  return args.pairs.findLast(([candidate]) => candidate === key)?.[1];
}

/** The pod that the call is about. Its names reach paths and URLs, so they must be valid Kubernetes names. */
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

/** The five keys of Multus in its order. Some plugins match on the text. */
const fixedKeys = ["IgnoreUnknown", "K8S_POD_NAMESPACE", "K8S_POD_NAME", "K8S_POD_INFRA_CONTAINER_ID", "K8S_POD_UID"];

/** Pairs that a network's selection element adds, and runtime keys that the plugins of this network must not see. */
interface ExtraArgs {
  readonly mac?: string;
  readonly ips?: readonly string[];
  readonly omit?: readonly string[];
}

/** CNI_ARGS for a plugin: the fixed five, then the runtime's other pairs in their order, then MAC and IP. */
export function pluginArgs(args: CniArgs, extra: ExtraArgs = {}): string {
  const { mac, ips, omit = [] } = extra;
  const isPlain = mac === undefined && ips === undefined && omit.every((key) => argOf(args, key) === undefined);
  return isPlain && args instanceof ArgsText ? args.forPlugin : printForPlugin(args, extra);
}

function printForPlugin(args: CniArgs, extra: ExtraArgs): string {
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
