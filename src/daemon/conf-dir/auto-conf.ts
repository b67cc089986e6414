import type { Clock } from "../../base/clock.ts";
import { compareVersions } from "../../cni/cni-version.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { confFileName, shimConf } from "../../config/shim-conf.ts";
import { note, type ConfDirProblem } from "./conf-dir-facts.ts";
import type { ConfOrigin, WantedConf } from "./conf-origin.ts";
import { readLastPrimary } from "./last-primary.ts";
import { PrimaryChoice } from "./primary-choice.ts";
import type { PrimaryConf } from "./primary-conf.ts";

/**
 * Multus' own. Runtimes keep results by the network's name (`/var/lib/cni/results/<name>-<container>-<interface>`): under
 * another name the DEL of a pod that was attached before a migration would not find its result, and the file would stay.
 */
const defaultName = "multus-cni-network";

/** `multusConfigFile: auto`: the conf is made anew from the primary network's each time, so nothing stale stays in it. */
export class AutoConf implements ConfOrigin {
  readonly fileName = confFileName;
  readonly folder: string;
  readonly #config: DaemonConfig;
  readonly #choice: PrimaryChoice;

  constructor(config: DaemonConfig, clock: Clock) {
    this.#config = config;
    this.folder = config.multusAutoconfigDir;
    this.#choice = new PrimaryChoice(config, clock, () => readLastPrimary(config.cniConfigDir, confFileName));
  }

  async look(): Promise<WantedConf> {
    const { primary, problem } = await this.#choice.look();
    const problems = problem === undefined ? [] : [problem];
    if (primary === undefined) return { text: undefined, primary: undefined, pluginTypes: [], problems };
    const cniVersion = this.#config.cniVersion === "" ? primary.cniVersion : this.#config.cniVersion;
    return {
      text: generatedConf(this.#config, primary, cniVersion),
      primary: primary.path,
      pluginTypes: primary.pluginTypes,
      problems: [...problems, ...versionProblems(cniVersion, primary)],
    };
  }
}

/**
 * Only what the runtime and the shim read, and where the primary network is. All other settings are the daemon's, and
 * they win over the conf of every call: a copy in the conf could only cause writes.
 */
function generatedConf(config: DaemonConfig, primary: PrimaryConf, cniVersion: string): string {
  const name = config.overrideNetworkName ? primary.name : config.name || defaultName;
  const { path: clusterNetwork, capabilities } = primary;
  return `${shimConf(config, { cniVersion, name, clusterNetwork, capabilities })}\n`;
}

/** Multus' rule and words, but no reason to stop: a plugin that is asked in a version it does not know says so itself. */
function versionProblems(cniVersion: string, primary: PrimaryConf): readonly ConfDirProblem[] {
  const since = "0.4.0";
  if (compareVersions(cniVersion, since) < 0 || compareVersions(primary.cniVersion, since) >= 0) return [];
  const text = `delegate cni version is ${primary.cniVersion} while top level cni version is ${cniVersion}`;
  return [note("version", text, `set cniVersion to that of ${primary.path}, or leave it out`)];
}
