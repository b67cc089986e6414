/** All scenarios in the order in which they run, on one machine, each a file of `scenarios/`. */
export const vmScenarios = [
  "basic",
  "hand-cgroup",
  "child-oom",
  "links",
  "vlan57",
  "swap",
  "memory-pressure",
  "restarts",
  "reboot",
  "power-cut",
  "api-away",
  "storm",
] as const;
