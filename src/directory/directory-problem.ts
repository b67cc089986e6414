/** A problem of a file. */
export interface FileProblem {
  readonly line: number | undefined;
  readonly reason: string;
}

/** A problem of the folder. The last good content of the file, if it had one, is still served. */
export interface DirectoryProblem extends FileProblem {
  /** Relative to the folder; empty for the folder itself. */
  readonly file: string;
}
