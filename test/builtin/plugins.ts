import type { MakeCase } from "./batch.ts";
import { bridgeCase } from "./bridge-cases.ts";
import { hostLocalCase, staticCase } from "./ipam-cases.ts";
import { loopbackCase } from "./loopback-cases.ts";

/** The built-in plugins, and how their cases are made. */
export const builtInPlugins: readonly (readonly [string, MakeCase])[] = [
  ["bridge", bridgeCase],
  ["host-local", hostLocalCase],
  ["static", staticCase],
  ["loopback", loopbackCase],
];
