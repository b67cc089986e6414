import type {
  ContainerId,
  IfName,
  JsonText,
  Namespace,
  NetworkName,
  PluginType,
  PodName,
  PodUid,
} from "../../base/brand.ts";
import type { NetnsIdentity, ProcessIdentity } from "../../base/identity.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import type { PlugRecord } from "./plug-record.ts";
import { SharedParts } from "./shared-parts.ts";
import type { Chain, ChainLink, MultusOrigin, RouteEdit } from "../../cni/chain.ts";
import {
  attachmentPhases,
  type AttachmentRecord,
  type RecordedFailure,
  type RecordedNetns,
  type RecordedPod,
  type StepRecord,
} from "./attachment-record.ts";
import {
  bigintAt,
  countAt,
  flagAt,
  listAt,
  oneOfAt,
  optionalTextAt,
  shapeAt,
  asShape,
  textAt,
  asText,
  timeAt,
  type Shape,
} from "../files/json-shape.ts";

/**
 * Texts and parts that many records share, so that a restarted daemon needs no more memory than before. The parts are
 * those that `chainParts` shares when a pod asks for nothing of its own.
 */
const common = new SharedTexts(256 * 1024);
const commonLinks = new SharedParts<readonly ChainLink[]>();
const commonRoutes = new SharedParts<RouteEdit>();
const commonOrigins = new SharedParts<MultusOrigin>();

/** All records are read. A later one, in a line of its own, shares with none of them. */
export function forgetCommonParts(): void {
  for (const parts of [commonLinks, commonRoutes, commonOrigins]) parts.clear();
}

/**
 * Converts records to plain JSON values and back. Only this file casts to branded types: the values were checked when
 * the call came in, and a checksum protects the line.
 */
export function recordToJson(record: AttachmentRecord): object {
  return {
    ...record,
    netns: netnsToJson(record.netns),
    steps: [...record.steps.values()].map(stepToJson),
    results: resultsToJson(record.results),
    plug: record.plug === undefined ? undefined : plugToJson(record.plug),
  };
}

export function recordFromJson(json: Shape): AttachmentRecord {
  const steps = listAt(json, "steps").map((step) => stepFromJson(asShape(step, "step")));
  return {
    token: textAt(json, "token"),
    containerId: textAt(json, "containerId") as ContainerId,
    ifname: sharedAt(json, "ifname") as IfName,
    netns: netnsFromJson(shapeAt(json, "netns")),
    bootId: sharedAt(json, "bootId"),
    pod: podFromJson(shapeAt(json, "pod")),
    cniPath: sharedAt(json, "cniPath"),
    cniVersion: sharedAt(json, "cniVersion"),
    hand: json["hand"] === undefined ? undefined : processFromJson(shapeAt(json, "hand")),
    startedWallMs: timeAt(json, "startedWallMs"),
    chains: chainsFromJson(listAt(json, "chains")),
    phase: oneOfAt(json, "phase", attachmentPhases),
    steps: new Map(steps.map((step) => [step.step, step])),
    results: resultsFromJson(listAt(json, "results")),
    failure: json["failure"] === undefined ? undefined : failureFromJson(shapeAt(json, "failure")),
    delAttempts: countAt(json, "delAttempts"),
    origin: oneOfAt(json, "origin", ["levee", "multus"]),
    ...(json["plug"] === undefined ? {} : { plug: plugFromJson(shapeAt(json, "plug")) }),
  };
}

export function plugToJson({ hand, leaving, joining, steps }: PlugRecord): object {
  return { hand, leaving, joining, steps: [...steps.values()].map(stepToJson) };
}

export function plugFromJson(json: Shape): PlugRecord {
  const steps = listAt(json, "steps").map((step) => stepFromJson(asShape(step, "step")));
  return {
    hand: processFromJson(shapeAt(json, "hand")),
    leaving: textsFrom(listAt(json, "leaving"), "leaving") as readonly IfName[],
    joining: chainsFromJson(listAt(json, "joining")),
    steps: new Map(steps.map((step) => [step.step, step])),
  };
}

export function stepToJson(step: StepRecord): object {
  return { step: step.step, result: step.result };
}

export function stepFromJson(json: Shape): StepRecord {
  return { step: countAt(json, "step"), result: optionalTextAt(json, "result") as JsonText | undefined };
}

/** A chain without a result is null on disk, because JSON lists have no undefined. */
export function resultsToJson(results: readonly (JsonText | undefined)[]): readonly (string | null)[] {
  return results.map((result) => result ?? null);
}

export function resultsFromJson(list: readonly unknown[]): readonly (JsonText | undefined)[] {
  return list.map((result) => (result === null ? undefined : (asText(result, "result") as JsonText)));
}

export function netnsToJson(netns: RecordedNetns): object {
  const { identity } = netns;
  if (identity === undefined) return { path: netns.path };
  const { device, inode, cookie, ctimeNs } = identity;
  const numbers = { device: String(device), inode: String(inode) };
  return { path: netns.path, identity: { ...numbers, cookie: cookie?.toString(), ctimeNs: ctimeNs?.toString() } };
}

export function netnsFromJson(json: Shape): RecordedNetns {
  return {
    path: textAt(json, "path"),
    identity: json["identity"] === undefined ? undefined : identityFromJson(shapeAt(json, "identity")),
  };
}

export function podFromJson(json: Shape): RecordedPod {
  return {
    namespace: sharedAt(json, "namespace") as Namespace,
    name: textAt(json, "name") as PodName,
    uid: textAt(json, "uid") as PodUid,
  };
}

export function failureFromJson(json: Shape): RecordedFailure {
  return {
    code: textAt(json, "code"),
    cniCode: countAt(json, "cniCode"),
    message: textAt(json, "message"),
    details: textAt(json, "details"),
  };
}

export function chainsFromJson(list: readonly unknown[]): readonly Chain[] {
  return list.map((chain) => chainFromJson(asShape(chain, "chain")));
}

function sharedAt(json: Shape, key: string): string {
  return common.share(textAt(json, key));
}

function identityFromJson(json: Shape): NetnsIdentity {
  return {
    device: sharedDevice(bigintAt(json, "device")),
    inode: bigintAt(json, "inode"),
    cookie: json["cookie"] === undefined ? undefined : bigintAt(json, "cookie"),
    ctimeNs: json["ctimeNs"] === undefined ? undefined : bigintAt(json, "ctimeNs"),
  };
}

let lastArgs = "";

/** All chains of a record have the same ones. */
function sharedArgs(args: string): string {
  if (args !== lastArgs) lastArgs = args;
  return lastArgs;
}

let lastDevice = 0n;

/** All namespaces of a kernel are on one device. */
function sharedDevice(device: bigint): bigint {
  if (device !== lastDevice) lastDevice = device;
  return lastDevice;
}

function processFromJson(json: Shape): ProcessIdentity {
  return {
    pid: countAt(json, "pid"),
    pidStart: countAt(json, "pidStart"),
    pidNamespace: countAt(json, "pidNamespace"),
  };
}

function chainFromJson(json: Shape): Chain {
  return {
    network: sharedAt(json, "network") as NetworkName,
    confName: sharedAt(json, "confName"),
    ifname: sharedAt(json, "ifname") as IfName,
    cniVersion: sharedAt(json, "cniVersion"),
    isDefault: flagAt(json, "isDefault"),
    ...(json["isOfNode"] === true ? { isOfNode: true as const } : {}),
    cniArgs: sharedArgs(textAt(json, "cniArgs")),
    links: commonLinks.share(listAt(json, "links").map((link) => linkFromJson(asShape(link, "link")))),
    disableCheck: flagAt(json, "disableCheck"),
    disableGC: flagAt(json, "disableGC"),
    routes: commonRoutes.share(routesFromJson(shapeAt(json, "routes"))),
    multus: commonOrigins.share(multusFromJson(shapeAt(json, "multus"))),
  };
}

function linkFromJson(json: Shape): ChainLink {
  return { type: sharedAt(json, "type") as PluginType, stdin: sharedAt(json, "stdin") as JsonText };
}

function routesFromJson(json: Shape): RouteEdit {
  return {
    dropV4: flagAt(json, "dropV4"),
    dropV6: flagAt(json, "dropV6"),
    gateways: textsFrom(listAt(json, "gateways"), "gateways"),
  };
}

function multusFromJson(json: Shape): MultusOrigin {
  const capabilities = Object.entries(shapeAt(json, "capabilityArgs")).map(
    ([name, value]) => [name, asText(value, name) as JsonText] as const,
  );
  return {
    config: sharedAt(json, "config") as JsonText,
    isList: flagAt(json, "isList"),
    capabilityArgs: Object.fromEntries(capabilities),
    request: requestFromJson(shapeAt(json, "request")),
  };
}

const requestTexts = ["ifname", "mac", "infinibandGuid", "deviceId", "resourceName"] as const;
const requestLists = ["ips", "defaultRoute"] as const;

function requestFromJson(json: Shape): MultusOrigin["request"] {
  const request: Record<string, string | readonly string[]> = {};
  for (const key of requestTexts) if (json[key] !== undefined) request[key] = textAt(json, key);
  for (const key of requestLists) if (json[key] !== undefined) request[key] = textsFrom(listAt(json, key), key);
  return request;
}

function textsFrom(list: readonly unknown[], what: string): readonly string[] {
  return list.map((item) => asText(item, what));
}
