/** All scenarios in the order in which they run, each a file of `scenarios/`. */
export const scenarios = [
  // Before Levee is there, and only when it is named: it waits for minutes.
  "reserved-names",
  "install",
  "older-pods",
  "migration",
  "basic",
  "networks-change",
  "virtual-machine",
  "device-claims",
  "conf-dir",
  "conf-change",
  "static-pod",
  "image",
  "daemon-killed",
  "rolling-update",
  "rollback",
  "guard-deployment",
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

/** Not part of a run without names. */
export const namedOnly: ReadonlySet<string> = new Set(["reserved-names"]);
