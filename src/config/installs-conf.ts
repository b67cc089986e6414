import { foldKey } from "../cni/json-text.ts";
import type { DaemonConfig } from "./daemon-config.ts";

const confKeys: ReadonlySet<string> = new Set(
  ["cniConfigDir", "multusConfigFile", "multusAutoconfigDir"].map((key) => foldKey(key)),
);

/**
 * Whether the runtime's conf is the daemon's business: in a cluster always. A machine without one keeps its own confs,
 * and nothing of it is touched unless one of the settings about the conf is given.
 */
export function installsConf({ directory, rawOverlay }: Pick<DaemonConfig, "directory" | "rawOverlay">): boolean {
  return directory === undefined || rawOverlay.some(({ key, value }) => confKeys.has(foldKey(key)) && value !== "null");
}
