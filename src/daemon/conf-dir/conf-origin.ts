import type { ConfDirProblem } from "./conf-dir-facts.ts";

/** Where the text of the conf comes from: made from the primary network's, or given as a file. */
export interface ConfOrigin {
  /** Its name in the conf directory. */
  readonly fileName: string;
  /** What is watched besides the conf directory. */
  readonly folder: string;
  look(): Promise<WantedConf>;
}

export interface WantedConf {
  /** Undefined while there is none, or when what is in the conf directory is not ours to write. */
  readonly text: string | undefined;
  readonly primary: string | undefined;
  readonly pluginTypes: readonly string[];
  readonly problems: readonly ConfDirProblem[];
}
