import type { JsonText } from "../base/brand.ts";
import { JsonReader } from "../cni/json-reader.ts";
import { present } from "../cni/present.ts";

/** The members of the device-info specification, in the order of Multus. */
const parts = {
  "pci": ["pci-address", "vhost-net", "rdma-device", "pf-pci-address", "representor-device"],
  "vdpa": ["parent-device", "driver", "path", "pci-address", "pf-pci-address", "representor-device"],
  "vhost-user": ["mode", "path"],
  "memif": ["role", "path", "mode"],
} as const;

/** A plugin's description of the device, reduced to known members in their order. */
export function deviceInfoOf(text: JsonText | undefined): object | undefined {
  if (text === undefined) return undefined;
  const reader = JsonReader.of(JSON.parse(text), "a device-info file");
  const info: Record<string, unknown> = {
    ...present("type", nonEmpty(reader.string("type"))),
    ...present("version", nonEmpty(reader.string("version"))),
  };
  for (const [part, keys] of Object.entries(parts)) {
    const object = reader.object(part);
    if (object !== undefined) info[part] = Object.fromEntries(stringsOf(object, keys));
  }
  return info;
}

function stringsOf(object: JsonReader, keys: readonly string[]): [string, string][] {
  return keys.flatMap((key): [string, string][] => {
    const value = nonEmpty(object.string(key));
    return value === undefined ? [] : [[key, value]];
  });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
