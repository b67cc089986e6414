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
