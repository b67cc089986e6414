import type { ConfDirProblem } from "./conf-dir-facts.ts";

/** The source of the conf's text: the primary network's conf, or a given file. */
export interface ConfOrigin {
  /** Its name in the conf directory. */
  readonly fileName: string;
  /** Watched besides the conf directory. */
  readonly folder: string;
  look(): Promise<WantedConf>;
}

export interface WantedConf {
  /** Undefined while there is none, or when the file in the conf directory is not ours to write. */
  readonly text: string | undefined;
  readonly primary: string | undefined;
  readonly pluginTypes: readonly string[];
  readonly problems: readonly ConfDirProblem[];
}
