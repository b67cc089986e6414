import type { IfName, JsonText, Namespace } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { foldKey } from "../cni/fold-key.ts";
import { ifnameProblem, kernelProblem } from "../cni/interface-name.ts";
import { parseCidr, parseIp } from "../cni/ip.ts";
import { arrayElements, jsonKind, jsonString, scanObject, valueOf } from "../cni/json-text.ts";
import { present } from "../cni/present.ts";
import { isBandwidth, isMacAddress, isPortMapping, rateKeys } from "./element-values.ts";
import type { SelectionElement } from "./selection-element.ts";

interface ElementContext {
  readonly podNamespace: Namespace;
  readonly index: number;
  /** The start of errors that Go's decoder would report. */
  readonly prefix: string;
}

/** The keys of the specification and of Multus. */
const knownKeys = [
  "name",
  "namespace",
  "interface",
  "interfaceRequest",
  "ips",
  "mac",
  "infiniband-guid",
  "portMappings",
  "bandwidth",
  "deviceID",
  "cni-args",
  "default-route",
  "ipam-claim-reference",
] as const;
type Key = (typeof knownKeys)[number];

/** Go ignores the case of keys. */
const keyByFold: ReadonlyMap<string, Key> = new Map(knownKeys.map((key) => [foldKey(key), key]));

/** Reads one object of the JSON form. An error names element, key and value. */
export function parseElement(text: JsonText, context: ElementContext): SelectionElement {
  const fields = new ElementFields(text, context);
  return {
    name: fields.name(),
    namespace: fields.namespace(),
    ...present("mac", fields.mac()),
    ...present("infinibandGuid", fields.guid()),
    ...present("ips", fields.ips()),
    ...present("ifname", fields.ifname()),
    ...present("portMappings", fields.portMappings()),
    ...present("bandwidth", fields.bandwidth()),
    ...present("deviceId", fields.string("deviceID")),
    ...present("cniArgs", fields.cniArgs()),
    ...present("defaultRoute", fields.defaultRoute()),
    ...present("ipamClaimReference", fields.string("ipam-claim-reference")),
    unknownKeys: fields.unknownKeys,
  };
}

/** The members of one element by key, with a reader for each kind of value. */
class ElementFields {
  readonly unknownKeys: readonly string[];
  readonly #context: ElementContext;
  readonly #values = new Map<Key, JsonText>();

  constructor(text: JsonText, context: ElementContext) {
    this.#context = context;
    if (jsonKind(text) !== "object") {
      const reason = this.#place(`it must be an object: current value is ${clip(text)}`);
      throw mistyped(text, "Go value of type types.NetworkSelectionElement", context.prefix, reason);
    }
    const unknown: string[] = [];
    for (const member of scanObject(text)) {
      const key = keyByFold.get(foldKey(member.key));
      if (key === undefined) unknown.push(member.key);
      else if (this.#values.has(key)) throw this.#fail(`key "${key}" must be given once`);
      else this.#values.set(key, valueOf(text, member));
    }
    this.unknownKeys = unknown;
  }

  name(): string {
    const name = this.string("name") ?? "";
    // Kubernetes has no other names, so Multus would look for this one in vain.
    if (name.length > 253 || !/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(name)) {
      throw this.error("name", "must be the name of a NetworkAttachmentDefinition");
    }
    return name;
  }

  namespace(): Namespace {
    const namespace = this.string("namespace");
    if (namespace === undefined) return this.#context.podNamespace;
    if (namespace.length > 63 || !/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(namespace)) {
      throw this.error("namespace", "must be the name of a namespace");
    }
    return namespace as Namespace; // matched just above
  }

  ifname(): IfName | undefined {
    // The old key counts only without the new one.
    const key = this.string("interface") === undefined ? "interfaceRequest" : "interface";
    const ifname = this.string(key);
    if (ifname === undefined) return undefined;
    const problem = ifnameProblem(ifname) ?? kernelProblem(ifname);
    if (problem !== undefined) throw this.error(key, `cannot be used, ${problem}`);
    return ifname as IfName; // no problem found
  }

  mac(): string | undefined {
    const mac = this.string("mac");
    if (mac === undefined || isMacAddress(mac)) return mac;
    throw annotationInvalid(`parsePodNetworkAnnotation: failed to mac: address ${mac}: invalid MAC address`);
  }

  guid(): string | undefined {
    const guid = this.string("infiniband-guid");
    if (guid === undefined || isMacAddress(guid)) return guid;
    throw annotationInvalid(
      `parsePodNetworkAnnotation: failed to validate infiniband GUID: address ${guid}: invalid MAC address`,
    );
  }

  ips(): string[] | undefined {
    const ips = this.strings("ips", "string");
    for (const ip of ips ?? []) {
      if (ip.includes("/") && parseCidr(ip) === undefined) {
        throw annotationInvalid(`failed to parse CIDR ${jsonString(ip)}: invalid CIDR address: ${ip}`);
      }
      if (!ip.includes("/") && parseIp(ip) === undefined) {
        throw annotationInvalid(`failed to parse IP address ${jsonString(ip)}`);
      }
    }
    return ips?.length === 0 ? undefined : ips;
  }

  defaultRoute(): string[] | undefined {
    return this.strings("default-route", "net.IP")?.map((gateway) => {
      const ip = parseIp(gateway);
      if (ip === undefined) throw annotationInvalid(`${this.#context.prefix}invalid IP address: ${gateway}`);
      return ip.text;
    });
  }

  portMappings(): JsonText | undefined {
    const list = this.#get("portMappings");
    if (list === undefined) return undefined;
    if (jsonKind(list) !== "array")
      throw this.#mistyped("portMappings", list, "[]*types.PortMapEntry", "must be an array");
    const odd = arrayElements(list).find((mapping) => jsonKind(mapping) !== "object");
    if (odd !== undefined) throw this.#mistyped("portMappings", odd, "types.PortMapEntry", "must have objects only");
    const isGood = arrayElements(list).every(isPortMapping);
    if (!isGood) {
      throw this.error(
        "portMappings",
        "must have objects with hostPort and containerPort of 1 to 65535, and optionally protocol (tcp, udp or sctp) and hostIP",
      );
    }
    return arrayElements(list).length === 0 ? undefined : list;
  }

  bandwidth(): JsonText | undefined {
    const object = this.#get("bandwidth");
    if (object === undefined) return undefined;
    if (jsonKind(object) !== "object")
      throw this.#mistyped("bandwidth", object, "types.BandwidthEntry", "must be an object");
    if (!isBandwidth(object))
      throw this.error("bandwidth", `must be an object whose ${rateKeys.join(", ")} are integers of 0 or more`);
    return object;
  }

  cniArgs(): Record<string, JsonText> | undefined {
    const object = this.#get("cni-args");
    if (object === undefined) return undefined;
    if (jsonKind(object) !== "object")
      throw this.#mistyped("cni-args", object, "map[string]interface {}", "must be an object");
    return Object.fromEntries(scanObject(object).map((member) => [member.key, valueOf(object, member)]));
  }

  /** A string. An empty one counts as absent, as in Multus. */
  string(key: Key): string | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (jsonKind(value) !== "string") throw this.#mistyped(key, value, "string", "must be a string");
    const text = String(JSON.parse(value));
    return text === "" ? undefined : text;
  }

  strings(key: Key, goType: string): string[] | undefined {
    const list = this.#get(key);
    if (list === undefined) return undefined;
    const rule = "must be an array of strings";
    if (jsonKind(list) !== "array") throw this.#mistyped(key, list, `[]${goType}`, rule);
    return arrayElements(list).map((item) => {
      if (jsonKind(item) !== "string") throw this.#mistyped(key, item, goType, rule);
      return String(JSON.parse(item));
    });
  }

  error(key: Key, rule: string): LeveeError {
    return this.#fail(this.#text(key, rule));
  }

  #mistyped(key: Key, value: JsonText, goType: string, rule: string): LeveeError {
    const target = `Go struct field NetworkSelectionElement.${key} of type ${goType}`;
    return mistyped(value, target, this.#context.prefix, this.#place(this.#text(key, rule)));
  }

  #text(key: Key, rule: string): string {
    const value = this.#values.get(key);
    return `key "${key}" ${rule}: ${value === undefined ? "it is missing" : `current value is ${clip(value)}`}`;
  }

  #get(key: Key): JsonText | undefined {
    const value = this.#values.get(key);
    return value === undefined || jsonKind(value) === "null" ? undefined : value;
  }

  #fail(reason: string): LeveeError {
    return annotationInvalid(`${this.#context.prefix}${this.#place(reason)}`);
  }

  #place(reason: string): string {
    return `element ${this.#context.index}: ${reason}`;
  }
}

/** An error for a wrong type: first the words of Go's decoder, as in Multus, then the place and the reason. */
function mistyped(value: JsonText, target: string, prefix: string, reason: string): LeveeError {
  // Go accepts null without an error.
  const go = jsonKind(value) === "null" ? "" : `json: cannot unmarshal ${jsonKind(value)} into ${target}; `;
  return annotationInvalid(`${prefix}${go}${reason}`);
}

function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function annotationInvalid(message: string): LeveeError {
  return new LeveeError("annotation-invalid", message);
}
