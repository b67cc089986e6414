import { spawnSync } from "node:child_process";
import type { MakeCase } from "./batch.ts";
import { bridgeCase } from "./bridge-cases.ts";
import { hostLocalCase, staticCase } from "./ipam-cases.ts";
import { hostDeviceCase, ipvlanCase, macvlanCase, ptpCase, vlanCase } from "./link-cases.ts";
import { loopbackCase } from "./loopback-cases.ts";
import { tuningCase } from "./tuning-cases.ts";

/** The built-in plugins, and how their cases are made. */
export const builtInPlugins: readonly (readonly [string, MakeCase])[] = [
  ["bridge", bridgeCase],
  ["host-local", hostLocalCase],
  ["static", staticCase],
  ["loopback", loopbackCase],
  ["macvlan", macvlanCase],
  ["ptp", ptpCase],
  ["host-device", hostDeviceCase],
  ["tuning", tuningCase],
  ["ipvlan", ipvlanCase],
  ["vlan", vlanCase],
];

/** Whether the kernel has the links of a plugin. If not, no call can go well, and only errors can be compared. */
export function isPossible(plugin: string): boolean {
  const more = { ipvlan: "type ipvlan", vlan: "type vlan id 5" }[plugin];
  if (more === undefined) return true;
  const script = `ip link add a type veth peer name b && ip link add link a name c ${more}`;
  return spawnSync("unshare", ["--net", "sh", "-c", script]).status === 0;
}
