/** Limits of the folder, so that no file in it can exhaust or stall the daemon. */
export const limits = {
  /** etcd takes objects up to 1.5 MiB, but a network has some hundred bytes. The worst YAML of this size takes a few seconds to parse. */
  fileBytesMax: 262_144,
  filesMax: 10_000,
  /** All files together. They are kept in the memory of a daemon that has about 50 MiB. */
  totalBytesMax: 33_554_432,
  /** Names read in one folder. Of these, the first `filesMax` by name are taken. */
  entriesMax: 100_000,
  /** Each costs an inotify watch. */
  subFoldersMax: 256,
  /** Aliases that one YAML document may expand to. */
  aliasesMax: 100,
  /** Problems listed per file. The rest is listed when these are fixed. */
  problemsPerFileMax: 20,
} as const;
