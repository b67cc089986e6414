import { foldKey } from "../cni/fold-key.ts";
import type { DaemonConfig } from "./daemon-config.ts";

const confKeys: ReadonlySet<string> = new Set(
  ["cniConfigDir", "multusConfigFile", "multusAutoconfigDir"].map((key) => foldKey(key)),
);

/**
 * Whether the daemon installs the runtime's conf. It always does in a cluster. A machine without a cluster keeps its
 * own confs unless one of the settings about the conf is given.
 */
export function installsConf({ directory, rawOverlay }: Pick<DaemonConfig, "directory" | "rawOverlay">): boolean {
  return directory === undefined || rawOverlay.some(({ key, value }) => confKeys.has(foldKey(key)) && value !== "null");
}
