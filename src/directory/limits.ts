/** What the folder may hold, so that no file in it can exhaust or stall the daemon. */
export const limits = {
  /** etcd takes objects up to 1.5 MiB, but a network is some hundred bytes; the worst YAML of this size takes the parser a few seconds. */
  fileBytesMax: 262_144,
  filesMax: 10_000,
  /** All files together: they are kept in memory, in a daemon that has some 50 MiB. */
  totalBytesMax: 33_554_432,
  /** Names looked at in one folder, of which the first `filesMax` by name are taken. */
  entriesMax: 100_000,
  /** Each costs an inotify watch. */
  subFoldersMax: 256,
  /** Aliases that one YAML document may expand to. */
  aliasesMax: 100,
  /** Reported of one file; the rest follows when these are mended. */
  problemsPerFileMax: 20,
} as const;
