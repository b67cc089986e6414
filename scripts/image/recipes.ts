import { daemonEnv } from "../../src/config/daemon-env.ts";
import type { SetName } from "../debian/pins.ts";
import type { Start } from "./oci.ts";

/** What is in an image, from bottom to top, and how it starts. */
export interface Recipe {
  readonly name: "levee" | "levee-guard";
  readonly description: string;
  readonly packages: readonly Extract<SetName, "base" | "guard">[];
  readonly programs: readonly ("levee" | "levee-shim")[];
  readonly start: Start;
}

/** The host does not exist. It is in front so that nobody takes the image of that name from a public registry. */
export const imageHost = "levee.dev";

/** The bill of materials in each image, alone in its last layer. */
export const sbomPath = "usr/share/levee/sbom.spdx.json";

/**
 * Engine settings: less memory for more CPU. The daemon would otherwise start itself again with them; the guard has no other
 * way.
 */
const env = [
  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ...Object.entries(daemonEnv).map(([name, value]) => `${name}=${value}`),
];
const entrypoint = ["/usr/local/bin/levee"];

export const recipes: readonly Recipe[] = [
  {
    name: "levee",
    description: "Levee's daemon, hand, guard and commands",
    packages: ["base"],
    programs: ["levee", "levee-shim"],
    start: { entrypoint, env, user: "0:0" },
  },
  {
    name: "levee-guard",
    description: "Levee's guard with git and ssh, for a guard that locks memory limits in git",
    packages: ["base", "guard"],
    programs: ["levee"],
    start: { entrypoint, env, user: "65532:65532" },
  },
];
