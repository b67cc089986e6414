import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { numberKnobs } from "../../config/knobs.ts";
import { shimConf } from "../../config/shim-conf.ts";
import { errnoOf } from "../../base/errors.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import type { Settings } from "../settings.ts";

/** Options of commands that play the container runtime. */
export function addShimOptions(command: Command): Command {
  return command
    .option("--shim <file>", "the shim to run (LEVEE_SHIM; default: levee-shim beside this program)")
    .option(
      "--cni-path <folders>",
      "folders of the CNI plugins (LEVEE_CNI_PATH; default: those of /opt/cni/bin:/usr/lib/cni that exist)",
    )
    .option(
      "--conf <file>",
      "CNI configuration for the shim, such as the one the daemon wrote (default: made from --socket-dir and --state-dir)",
    );
}

/** Checks the first line of `--version`, because any program may print one. */
export function isShimVersion(software: string): boolean {
  return /^levee-shim[ /]/u.test(software);
}

/** A missing folder is a typing mistake; without this check the error would be a missing plugin. */
export function requirePluginFolders({ cniPath }: Pick<Settings, "cniPath">, option = "--cni-path"): void {
  const missing = cniPath.split(":").find((folder) => folder !== "" && !existsSync(folder));
  if (missing === undefined) return;
  throw usageFailure(
    `Cannot look for plugins in ${missing}: there is no such folder`,
    `${option} with existing folders only, separated by colons`,
  );
}

/** The configuration for the shim's stdin. */
export async function readConf(file: string | undefined, settings: Settings): Promise<string> {
  if (file === undefined) return ownConf(settings);
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new CommandFailure(errnoOf(cause) ?? "io-failed", `Cannot read the configuration ${file}`, {
      remedy: "--conf FILE with an existing file, or leave it out",
      cause,
    });
  }
}

/** The conf that the daemon would install, with default budgets. */
function ownConf({ socketDir, stateDir }: Pick<Settings, "socketDir" | "stateDir">): string {
  const { addBudgetMs, delBudgetMs, delPatienceMs, addUndoMs } = numberKnobs;
  const budgets = {
    addBudgetMs: addBudgetMs.default,
    delBudgetMs: delBudgetMs.default,
    delPatienceMs: delPatienceMs.default,
    addUndoMs: addUndoMs.default,
  };
  return shimConf(
    { name: "levee", capabilities: {}, socketDir, daemonSocketDir: socketDir, stateDir, ...budgets },
    { cniVersion: "1.0.0" },
  );
}
