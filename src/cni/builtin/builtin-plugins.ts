/** Plugins that the shim has built in. Each behaves as the upstream program of the same name. */
export const builtinPlugins = [
  "bridge",
  "host-device",
  "host-local",
  "ipvlan",
  "loopback",
  "macvlan",
  "ptp",
  "static",
  "tuning",
  "vlan",
] as const;

export type BuiltinPlugin = (typeof builtinPlugins)[number];

/**
 * Where a built-in plugin stands in for a program. `auto`: where no program is, or the upstream one of a compared version.
 * A list: for these plugins, whatever program is there.
 */
export type BuiltinChoice = "auto" | "off" | readonly BuiltinPlugin[];

/** The built-ins that other plugins call for addresses. */
export const builtinIpams = ["host-local", "static"] as const satisfies readonly BuiltinPlugin[];

/**
 * The built-ins that stand in for upstream's programs under `auto`: each was compared in 200 generated cases with each
 * version. The others serve where no program is, or where a list names them.
 */
const comparedPlugins = [
  "bridge",
  "host-device",
  "host-local",
  "loopback",
  "macvlan",
  "ptp",
  "static",
  "tuning",
] as const satisfies readonly BuiltinPlugin[];

export type ComparedPlugin = (typeof comparedPlugins)[number];

/** Upstream versions whose behaviour was compared with the built-ins, the newest first. */
export const comparedVersions = ["1.9.1", "1.1.1"] as const;

export type ComparedVersion = (typeof comparedVersions)[number];

export function isBuiltinPlugin(name: string): name is BuiltinPlugin {
  return builtinPlugins.some((known) => known === name);
}

export function isComparedPlugin(name: string): name is ComparedPlugin {
  return comparedPlugins.some((known) => known === name);
}
