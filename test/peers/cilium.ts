import { modulePrograms } from "./module-programs.ts";
import type { Peer } from "./peer.ts";

/** Runs the part of Cilium's agent that keeps the folder of confs, with the agent's own options. */
const confAgent = `package main

import (
	"fmt"
	"os"

	"github.com/cilium/hive"
	"github.com/cilium/hive/cell"
	"github.com/spf13/pflag"

	"github.com/cilium/cilium/daemon/cmd/cni"
	"github.com/cilium/cilium/pkg/logging"
	"github.com/cilium/cilium/pkg/option"
)

func main() {
	agent := hive.New(
		cni.Cell,
		cell.Provide(func() *option.DaemonConfig { return option.Config }),
		cell.Invoke(func(cni.CNIConfigManager) {}),
	)
	flags := pflag.NewFlagSet("cilium-conf-agent", pflag.ExitOnError)
	agent.RegisterFlags(flags)
	_ = flags.Parse(os.Args[1:])
	if err := agent.Run(logging.DefaultSlogLogger); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`;

/** Cilium's CNI plugin, and as much of its agent as runs without eBPF: what it does to confs. */
export function cilium(): Promise<Peer> {
  return modulePrograms({
    name: "cilium",
    module: "github.com/cilium/cilium",
    version: "v1.19.3",
    packages: ["plugins/cilium-cni", "cilium-conf-agent"],
    added: { "cilium-conf-agent/main.go": confAgent },
  });
}
