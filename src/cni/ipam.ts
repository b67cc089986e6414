import type { JsonText } from "../base/brand.ts";
import { jsonKind, memberText, stringMember } from "./json-text.ts";

/** The plugin that keeps the addresses of another plugin; empty where the configuration names none. */
export interface Ipam {
  readonly type: string;
  /** Of host-local: the folder of its files. */
  readonly dataDir: string;
  /** Of dhcp: where its daemon listens. */
  readonly daemonSocket: string;
}

export function ipamOf(plugin: JsonText): Ipam {
  const ipam = memberText(plugin, "ipam");
  if (ipam === undefined || jsonKind(ipam) !== "object") return { type: "", dataDir: "", daemonSocket: "" };
  return {
    type: stringMember(ipam, "type"),
    dataDir: stringMember(ipam, "dataDir"),
    daemonSocket: stringMember(ipam, "daemonSocketPath"),
  };
}
