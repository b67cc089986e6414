import type { Hand } from "../../hands/hand.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Journal } from "../../state/journal/journal.ts";

/** Where plugins are looked for on the host, and the source of that knowledge. */
export interface PluginFolders {
  readonly folders: readonly string[];
  /** `guess`: the default folder, which may be wrong for this host. */
  readonly source: "runtime" | "setting" | "guess";
}

export interface PluginFolderNeeds {
  readonly config: Pick<DaemonConfig, "binDir" | "rawOverlay">;
  readonly journal: Pick<Journal, "all">;
}

/** In this order: the runtime's newest call, the hand's own CNI_PATH, the configuration. */
export function pluginFolders(
  { config, journal }: PluginFolderNeeds,
  hand: Pick<Hand, "cniPath"> | undefined,
): PluginFolders {
  const told = [journal.all().at(-1)?.cniPath ?? "", hand?.cniPath ?? ""];
  const paths = [...told, config.binDir].flatMap((path) => path.split(":"));
  const isSet = config.rawOverlay.some(({ key }) => key.toLowerCase() === "bindir");
  return {
    folders: [...new Set(paths)].filter((path) => path.startsWith("/")),
    source: told.some((path) => path !== "") ? "runtime" : isSet ? "setting" : "guess",
  };
}
