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
 * Multus' own name. Runtimes file results under the network's name (`/var/lib/cni/results/<name>-<container>-<interface>`).
 * Under another name, the DEL of a pod attached before a migration would not find its result, and the file would stay.
 */
const defaultName = "multus-cni-network";

/** `multusConfigFile: auto`: rebuilds the conf from the primary network's conf at each look, so nothing in it is stale. */
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
 * Holds only what the runtime and the shim read, and the path of the primary network. The daemon's settings win over the
 * conf of every call, so a copy of them here could only cause writes.
 */
function generatedConf(config: DaemonConfig, primary: PrimaryConf, cniVersion: string): string {
  const name = config.overrideNetworkName ? primary.name : config.name || defaultName;
  const { path: clusterNetwork, capabilities } = primary;
  return `${shimConf(config, { cniVersion, name, clusterNetwork, capabilities })}\n`;
}

/** Multus' rule and words. Only a note: a plugin that does not know the version reports that itself. */
function versionProblems(cniVersion: string, primary: PrimaryConf): readonly ConfDirProblem[] {
  const since = "0.4.0";
  if (compareVersions(cniVersion, since) < 0 || compareVersions(primary.cniVersion, since) >= 0) return [];
  const text = `delegate cni version is ${primary.cniVersion} while top level cni version is ${cniVersion}`;
  return [note("version", text, `set cniVersion to that of ${primary.path}, or leave it out`)];
}
