/** All scenarios in the order in which they run, each a file of `scenarios/`. */
export const scenarios = [
  "older-pods",
  "migration",
  "basic",
  "networks-change",
  "conf-dir",
  "conf-change",
  "static-pod",
  "image",
  "shipped-pods",
  "daemon-killed",
  "rolling-update",
  "restarts",
  "token",
  "drain",
  "reboot",
  "versions",
  // From here on with a newer containerd, which knows more of CNI.
  "new-runtime",
  "conf-change-newer",
  "daemon-away",
  "api-away",
] as const;
