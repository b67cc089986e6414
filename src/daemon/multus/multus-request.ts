import type { JsonText } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { asJsonText, jsonString } from "../../cni/json-text.ts";
import type { RawRequest } from "../../cni/verb.ts";

/** What a client of `multus.sock` asks for: the environment of a CNI call and its configuration. */
export interface MultusRequest {
  readonly call: RawRequest;
  /** CNI_NETNS_OVERRIDE: the namespace may be the host's. */
  readonly mayBeOwnNetns: boolean;
  readonly config: JsonText;
}

/** Reads a body of Multus' HTTP interface. `interfaceAttributes` is not read: the pod's annotation says the same. */
export function readMultusRequest(body: Uint8Array): MultusRequest {
  const value = parsed(body);
  const env = memberOf(value, "env");
  const text = (name: string): string => textOf(env, name);
  const call = {
    verb: text("CNI_COMMAND"),
    containerId: text("CNI_CONTAINERID"),
    netns: text("CNI_NETNS"),
    ifname: text("CNI_IFNAME"),
    cniArgs: text("CNI_ARGS"),
    cniPath: text("CNI_PATH"),
  };
  const config = Buffer.from(textOf(value, "config"), "base64");
  return {
    call,
    mayBeOwnNetns: isOverride(text("CNI_NETNS_OVERRIDE")),
    config: asJsonText(config, "the network configuration of the request"),
  };
}

/** As skel reads it, in any case. */
function isOverride(text: string): boolean {
  return text === "1" || text.toUpperCase() === "TRUE";
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw new LeveeError("decode-failed", "Cannot read the request: its body is not JSON", { cause });
  }
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return Object.getOwnPropertyDescriptor(value, key)?.value;
  throw new LeveeError(
    "decode-failed",
    `Cannot read ${jsonString(key)} of the request: it must be in a JSON object: current value is ${seen(value)}`,
  );
}

/** Empty when it is absent or null, as Go writes an absent one. */
function textOf(value: unknown, key: string): string {
  const text = memberOf(value, key) ?? "";
  if (typeof text === "string") return text;
  throw new LeveeError(
    "decode-failed",
    `Cannot read ${jsonString(key)} of the request as it must be a text: current value is ${seen(text)}`,
  );
}

function seen(value: unknown): string {
  return (JSON.stringify(value) ?? "absent").slice(0, 100);
}
