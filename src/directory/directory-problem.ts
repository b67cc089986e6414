/** What is wrong with a file. */
export interface FileProblem {
  readonly line: number | undefined;
  readonly reason: string;
}

/** What is wrong in the folder. The last good content of the file, if it had one, is still served. */
export interface DirectoryProblem extends FileProblem {
  /** Relative to the folder; empty for the folder itself. */
  readonly file: string;
}
