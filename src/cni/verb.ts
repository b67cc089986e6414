import type { ContainerId, IfName, NetnsPath } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { type CniArgs, noArgs, parseCniArgs, podArgs, type PodArgs } from "./cni-args.ts";
import { ifnameProblem } from "./interface-name.ts";
import { jsonString } from "./json-text.ts";

type Verb = "ADD" | "DEL" | "CHECK" | "GC" | "STATUS" | "VERSION";

/** The variables of a call as the shim found them, with `""` for an absent one. */
export interface RawRequest {
  readonly verb: string;
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  readonly cniArgs: string;
  readonly cniPath: string;
}

interface Attachment {
  readonly containerId: ContainerId;
  readonly ifname: IfName;
}

interface Surroundings {
  readonly args: CniArgs;
  /** CNI_PATH: folders separated by `:`. It may be empty. */
  readonly cniPath: string;
}

export type AddRequest = { readonly verb: "ADD"; readonly netns: NetnsPath } & Attachment & Surroundings;
export type CheckRequest = { readonly verb: "CHECK"; readonly netns: NetnsPath } & Attachment & Surroundings;
/** The runtime need not name the netns of a DEL, because it may be gone. */
export type DelRequest = { readonly verb: "DEL"; readonly netns: NetnsPath | undefined } & Attachment & Surroundings;
type GcRequest = { readonly verb: "GC" } & Surroundings;
type StatusRequest = { readonly verb: "STATUS" } & Surroundings;
type VersionRequest = { readonly verb: "VERSION" } & Surroundings;
export type CniRequest = AddRequest | CheckRequest | DelRequest | GcRequest | StatusRequest | VersionRequest;

type Variable = "CNI_CONTAINERID" | "CNI_NETNS" | "CNI_IFNAME" | "CNI_ARGS" | "CNI_PATH";
type Need = "required" | "optional" | "unused";

/**
 * Which verb needs which variable, as in libcni's plugin skeleton. CNI_PATH is optional for DEL and STATUS, as in the
 * specification: they must not fail because of a variable that they do not need.
 */
export const verbTable: Readonly<Record<Verb, Readonly<Record<Variable, Need>>>> = {
  ADD: {
    CNI_CONTAINERID: "required",
    CNI_NETNS: "required",
    CNI_IFNAME: "required",
    CNI_ARGS: "optional",
    CNI_PATH: "required",
  },
  CHECK: {
    CNI_CONTAINERID: "required",
    CNI_NETNS: "required",
    CNI_IFNAME: "required",
    CNI_ARGS: "optional",
    CNI_PATH: "required",
  },
  DEL: {
    CNI_CONTAINERID: "required",
    CNI_NETNS: "optional",
    CNI_IFNAME: "required",
    CNI_ARGS: "optional",
    CNI_PATH: "optional",
  },
  GC: {
    CNI_CONTAINERID: "unused",
    CNI_NETNS: "unused",
    CNI_IFNAME: "unused",
    CNI_ARGS: "unused",
    CNI_PATH: "required",
  },
  STATUS: {
    CNI_CONTAINERID: "unused",
    CNI_NETNS: "unused",
    CNI_IFNAME: "unused",
    CNI_ARGS: "unused",
    CNI_PATH: "optional",
  },
  VERSION: {
    CNI_CONTAINERID: "unused",
    CNI_NETNS: "unused",
    CNI_IFNAME: "unused",
    CNI_ARGS: "unused",
    CNI_PATH: "unused",
  },
};

/** The field of each variable in a call, and the check of its value. */
const variables: Readonly<
  Record<
    Variable,
    { readonly field: keyof RawRequest; readonly problem: (value: string, verb: Verb) => string | undefined }
  >
> = {
  CNI_CONTAINERID: { field: "containerId", problem: containerIdProblem },
  CNI_NETNS: { field: "netns", problem: netnsProblem },
  CNI_IFNAME: { field: "ifname", problem: ifnameProblem },
  CNI_ARGS: { field: "cniArgs", problem: argsProblem },
  CNI_PATH: { field: "cniPath", problem: (value) => (value.includes("\0") ? "must not contain NUL" : undefined) },
};

const variableNames = Object.keys(variables) as readonly Variable[]; // the table's own keys

/** Multus' cache and IPAM plugins use container IDs as file names. A longer ID would fail there, after side effects. */
const containerIdBytesMax = 253;
const containerIdPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const pathBytesMax = 4096;

/** Reads one call. The error lists every problem. */
export function parseRequest(raw: RawRequest): CniRequest {
  if (!isVerb(raw.verb)) {
    throw new LeveeError(
      "env-invalid",
      `Cannot serve CNI_COMMAND as it must be one of ${Object.keys(verbTable).join(", ")}: current value is ${jsonString(clip(raw.verb))}`,
    );
  }
  const problems = problemsOf(raw.verb, raw);
  if (problems.length > 0) {
    throw new LeveeError("env-invalid", `Cannot serve ${raw.verb}: ${problems.join("; ")}`);
  }
  return requestOf(raw.verb, raw);
}

export function isVerb(text: string): text is Verb {
  return Object.hasOwn(verbTable, text);
}

/** A loop without functions and lists in between: every call passes here while its runtime waits. */
function problemsOf(verb: Verb, raw: RawRequest): string[] {
  const [missing, wrong]: [string[], string[]] = [[], []];
  const needs = verbTable[verb];
  for (const name of variableNames) {
    const { field, problem } = variables[name];
    const value = raw[field];
    if (needs[name] === "unused") continue;
    const found = value === "" ? undefined : problem(value, verb);
    if (found !== undefined) wrong.push(`${name} ${found}: current value is ${jsonString(clip(value))}`);
    if (value === "" && needs[name] === "required") missing.push(name);
  }
  // The first sentence is the one of libcni's plugin skeleton, which users of the runtimes know.
  return missing.length === 0 ? wrong : [`required env variables [${missing.join(",")}] missing`, ...wrong];
}

function requestOf(verb: Verb, raw: RawRequest): CniRequest {
  const isUnused = verbTable[verb].CNI_ARGS === "unused";
  const { cniPath } = raw;
  const args = isUnused ? noArgs : parseCniArgs(raw.cniArgs);
  // The checks of the table have passed, so the values may carry their brands.
  const containerId = raw.containerId as ContainerId;
  const ifname = raw.ifname as IfName; // as above
  const netns = raw.netns as NetnsPath; // checked by the table as well
  switch (verb) {
    case "ADD":
    case "CHECK":
      // No spread: an object built by spreading takes twice the memory, and every call in line keeps one.
      return { verb, netns, containerId, ifname, args, cniPath };
    case "DEL":
      return { verb, netns: raw.netns === "" ? undefined : netns, containerId, ifname, args, cniPath };
    case "GC":
    case "STATUS":
    case "VERSION":
      return { verb, args, cniPath };
  }
}

function containerIdProblem(value: string): string | undefined {
  if (value.length > containerIdBytesMax) return `must have at most ${containerIdBytesMax} characters`;
  return containerIdPattern.test(value)
    ? undefined
    : "must be letters, digits, '_', '.' and '-', and start with a letter or digit";
}

function netnsProblem(value: string): string | undefined {
  if (!value.startsWith("/")) return "must be an absolute path";
  if (Buffer.byteLength(value, "utf8") >= pathBytesMax) return `must be shorter than ${pathBytesMax} bytes`;
  if (value.includes("\0") || value.split("/").includes("..")) return "must not contain NUL or '..'";
  return undefined;
}

function argsProblem(value: string, verb: Verb): string | undefined {
  const args = readOr(() => parseCniArgs(value));
  if (args === undefined) return "must be KEY=VALUE pairs separated by ';'";
  const pod = readOr(() => podArgs(args));
  if (pod === undefined) return "must name the pod as Kubernetes does";
  return verb === "ADD" ? halfPodProblem(pod) : undefined;
}

/** Without its name or namespace the pod would get the default network alone, whatever it asks for. */
function halfPodProblem({ namespace, name, uid }: PodArgs): string | undefined {
  const isForNone = namespace === undefined && name === undefined && uid === undefined;
  if (isForNone || (namespace !== undefined && name !== undefined)) return undefined;
  return "must have both K8S_POD_NAMESPACE and K8S_POD_NAME, or name no pod at all";
}

/** `read` has one way to fail, and the caller adds the value to the message. */
function readOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function clip(value: string): string {
  return value.length > 200 ? `${value.slice(0, 200)}…` : value;
}
