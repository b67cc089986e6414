/** All scenarios in the order in which they run, on one machine, each a file of `scenarios/`. */
export const vmScenarios = [
  "basic",
  "storm",
  "power-cut",
  "api-away",
  "hand-cgroup",
  "child-oom",
  "links",
  "vlan57",
  "swap",
  "memory-pressure",
  "restarts",
  "reboot",
] as const;

/** A scenario on a machine of its own, without a cluster. It takes hours where KVM does not work, so it runs only when it is named. */
export const builtinLinks = "builtin-links";
