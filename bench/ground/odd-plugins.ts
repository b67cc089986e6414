import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ground } from "./ground.ts";

/** While this file exists, the plugin `flaky` fails its ADDs. */
export const brokenFile = "/run/primary-broken";

const version = `[ "$CNI_COMMAND" = VERSION ] && { echo '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'; exit 0; }`;
const failure = `{ echo '{"cniVersion":"1.0.0","code":100,"msg":"planned failure"}'; exit 1; }`;
const result = `echo '{"cniVersion":"1.0.0","interfaces":[],"ips":[]}'`;

/** Plugins that misbehave. */
const scripts = {
  /** Never ends, and uses no CPU. */
  hangs: `${version}\n[ "$CNI_COMMAND" = ADD ] && exec sleep infinity\nexit 0`,
  /** Fails, except for pods whose name starts with ok. */
  fails: `cat > /dev/null\n${version}\n[ "$CNI_COMMAND" = ADD ] || exit 0\ncase "$CNI_ARGS" in *K8S_POD_NAME=ok*) ${result}; exit 0;; esac\n${failure}`,
  /** The bridge plugin, except while it is broken. */
  flaky: `${version}\n[ "$CNI_COMMAND" = ADD ] && [ -e ${brokenFile} ] && ${failure}\nexec "\${0%/*}/bridge"`,
} as const;

export type OddPlugin = keyof typeof scripts;

export function installOddPlugin(ground: Ground, name: OddPlugin): void {
  const path = join(ground.bin, name);
  mkdirSync(ground.bin, { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${scripts[name]}\n`);
  chmodSync(path, 0o755);
}
