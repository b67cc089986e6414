import { LeveeError } from "../base/errors.ts";
import type { IfName, NetnsPath, PluginType } from "../base/brand.ts";
import type { NetnsIdentity, ProcessIdentity } from "../base/identity.ts";
import { SharedTexts } from "../base/shared-texts.ts";
import { linksOfCall, netnsOfCall, ownNetnsOfCall } from "./call-netns.ts";
import {
  bytesField,
  encodeFrame,
  flagField,
  numberField,
  protocolVersion,
  protocolVersionMin,
  required,
  textField,
  type Frame,
  type OutgoingField,
} from "./frame.ts";
import { readOutcome, type Outcome } from "./outcome.ts";
import type { TagName } from "./tag.ts";

/** A hand's process and software, as it introduces itself. */
export interface HandIdentity extends ProcessIdentity {
  readonly software: string;
}

/** CALL: the header of one CNI call. The shim sends the configuration after GO. */
export interface CallHeader {
  readonly hand: HandIdentity;
  readonly verb: string;
  readonly containerId: string;
  readonly netns: string;
  readonly ifname: string;
  readonly cniArgs: string;
  readonly cniPath: string;
  readonly netnsIdentity: NetnsIdentity | undefined;
  /** The interfaces in the namespace of an ADD, for `isAmongLinks`; empty from shims before version 4. */
  readonly links: string;
  /** The shim's own namespace, which is the host's. Shims before version 3 do not send it. */
  readonly ownNetns: NetnsIdentity | undefined;
  /** The caller says that the namespace may be the host's (CNI_NETNS_OVERRIDE). */
  readonly mayBeOwnNetns: boolean;
  readonly configLength: number;
  readonly budgetMs: number;
}

/** RESUME: a call that continues after its daemon went away. */
export interface ResumeHeader {
  readonly call: CallHeader;
  readonly token: string;
  readonly printed: boolean;
  readonly last: { readonly step: number; readonly outcome: Outcome } | undefined;
}

export interface RunOrder {
  readonly plugin: PluginType;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly undo?: { readonly command: string; readonly timeoutMs: number };
  /** Run with a fresh network namespace as CNI_NETNS. Only the resident hand creates one. */
  readonly scratchNetns?: boolean;
  /** The plugin's own span, for its TRACEPARENT. Older hands pass on what the runtime gave. */
  readonly traceParent?: string | undefined;
  /** On which programs a built-in plugin stands in: `NAME WHICH VERSION`. Older hands run the program. */
  readonly builtins?: readonly string[];
  /** The question is about the program itself, so a built-in plugin answers only where there is none. */
  readonly asksProgram?: boolean;
}

export type RouteOp =
  | { readonly op: "delete-default"; readonly family: 4 | 6; readonly ifname: IfName }
  | { readonly op: "add-default"; readonly family: 4 | 6; readonly ifname: IfName; readonly gateway: Uint8Array };

/** REMOVE: a file as it was seen. It stays if it was changed since. */
export interface SeenFile {
  readonly path: string;
  readonly changedWallMs: number;
  /** Its owner locks this file (flock) for every change. */
  readonly lock: string;
}

/** The newest version that both sides support, or an error that names both ranges. */
export function negotiateVersion(frame: Frame): number {
  const min = required(numberField(frame, "version_min"), frame, "version_min");
  const max = required(numberField(frame, "version_max"), frame, "version_max");
  const version = Math.min(max, protocolVersion);
  if (version < Math.max(min, protocolVersionMin)) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot talk to ${textField(frame, "software") ?? "the peer"}: it speaks protocol ${min} to ${max}, this daemon ${protocolVersionMin} to ${protocolVersion}; install the shim that came with the daemon`,
    );
  }
  return version;
}

export function readHandIdentity(frame: Frame): HandIdentity {
  return {
    software: common.share(headerText(frame, "software") ?? ""),
    pid: required(numberField(frame, "pid"), frame, "pid"),
    pidStart: required(numberField(frame, "pid_start"), frame, "pid_start"),
    pidNamespace: numberField(frame, "pid_namespace") ?? 0,
  };
}

/** Texts that most calls of a node have in common. */
const common = new SharedTexts();

export function readCall(frame: Frame): CallHeader {
  return {
    hand: readHandIdentity(frame),
    verb: common.share(required(headerText(frame, "verb"), frame, "verb")),
    containerId: headerText(frame, "container_id") ?? "",
    netns: headerText(frame, "netns") ?? "",
    ifname: common.share(headerText(frame, "ifname") ?? ""),
    cniArgs: headerText(frame, "cni_args") ?? "",
    cniPath: common.share(headerText(frame, "cni_path") ?? ""),
    netnsIdentity: netnsOfCall(frame),
    links: linksOfCall(frame),
    ownNetns: ownNetnsOfCall(frame),
    mayBeOwnNetns: flagField(frame, "netns_override"),
    configLength: required(numberField(frame, "config_length"), frame, "config_length"),
    budgetMs: required(numberField(frame, "budget_ms"), frame, "budget_ms"),
  };
}

/** Far above any real CNI_ARGS or CNI_PATH. Up to 2,000 calls in line keep these texts, and some are logged. */
const headerTextBytesMax = 32_768;

function headerText(frame: Frame, tag: TagName): string | undefined {
  const size = bytesField(frame, tag)?.length ?? 0;
  if (size <= headerTextBytesMax) return textField(frame, tag);
  throw new LeveeError(
    "protocol-violated",
    `Cannot take a ${frame.type} frame as its field ${tag} may have ${headerTextBytesMax} bytes: its size is ${size}`,
  );
}

export function readResume(frame: Frame): ResumeHeader {
  const step = numberField(frame, "step");
  return {
    call: readCall(frame),
    token: Buffer.from(required(bytesField(frame, "token"), frame, "token")).toString("hex"),
    printed: flagField(frame, "printed"),
    last: step === undefined ? undefined : { step, outcome: readOutcome(frame) },
  };
}

/** `version` is the result of negotiateVersion for this peer. */
export function encodeWelcome(
  token: Uint8Array,
  heartbeatMs: number,
  software: string,
  version: number = protocolVersion,
): Uint8Array {
  return encodeFrame("WELCOME", [
    ["version", version],
    ["software", software],
    ["token", token],
    ["heartbeat_ms", heartbeatMs],
  ]);
}

export function encodeRun(step: number, order: RunOrder): Uint8Array {
  const env = Object.entries(order.env).map(([key, value]): OutgoingField => ["env", `${key}=${value}`]);
  return encodeFrame("RUN", [
    ["step", step],
    ["plugin", order.plugin],
    ...env,
    ["stdin", order.stdin],
    ["timeout_ms", Math.max(1, Math.round(order.timeoutMs))],
    ["undo_command", order.undo?.command],
    ["undo_timeout_ms", order.undo === undefined ? undefined : Math.max(1, Math.round(order.undo.timeoutMs))],
    ["scratch_netns", order.scratchNetns === true ? true : undefined],
    ["trace_parent", order.traceParent],
    ...(order.builtins ?? []).map((word): OutgoingField => ["builtin", word]),
  ]);
}

export function encodeRoutes(step: number, netns: NetnsPath, ops: readonly RouteOp[]): Uint8Array {
  return encodeFrame("ROUTES", [
    ["step", step],
    ["netns", netns],
    ...ops.map((op): OutgoingField => ["route_op", encodeRouteOp(op)]),
  ]);
}

export function encodeStat(step: number, paths: readonly string[]): Uint8Array {
  return encodeFrame("STAT", [["step", step], ...paths.map((path): OutgoingField => ["path", path])]);
}

/** `after` is the last name of the previous page. */
export function encodeList(step: number, folder: string, after?: string): Uint8Array {
  return encodeFrame("LIST", [
    ["step", step],
    ["path", folder],
    ["after", after],
  ]);
}

export function encodeRemove(step: number, { path, changedWallMs, lock }: SeenFile): Uint8Array {
  return encodeFrame("REMOVE", [
    ["step", step],
    ["path", path],
    ["changed_ms", changedWallMs],
    ["lock", lock],
  ]);
}

export function encodeReap(step: number, lost: ProcessIdentity, timeoutMs: number): Uint8Array {
  return encodeFrame("REAP", [
    ["step", step],
    ["pid", lost.pid],
    ["pid_start", lost.pidStart],
    ["timeout_ms", Math.max(1, Math.round(timeoutMs))],
  ]);
}

export function encodeFinish(exitCode: number, output: string): Uint8Array {
  return encodeFrame("FINISH", [
    ["exit_code", exitCode],
    ["output", output],
  ]);
}

/** A refusal must fit into a frame, but its message may quote text of the peer that fills one. */
const refusalCharsMax = 4_096;

export function encodeRefuse(error: LeveeError): Uint8Array {
  return encodeFrame("REFUSE", [
    ["code", error.code],
    ["message", error.message.slice(0, refusalCharsMax)],
  ]);
}

function encodeRouteOp(op: RouteOp): Uint8Array {
  const name = Buffer.from(op.ifname, "utf8");
  const head = Buffer.from([op.op === "delete-default" ? 1 : 2, op.family, name.length]);
  return Buffer.concat(op.op === "delete-default" ? [head, name] : [head, name, op.gateway]);
}
